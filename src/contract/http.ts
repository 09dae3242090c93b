// Request and response of server and command line (ADR 2).
/** Byte stream, in chunks as they arrive. */
export type Bytes = AsyncIterable<Uint8Array>

/**
 * Request that the client sends and the service handles. Web `Request`s and plain objects satisfy it. Web
 * objects would cost a short command 20 ms, and a server half its append throughput (docs/adr/0002).
 */
export interface HttpRequest {
  method: string
  /** Absolute URL: `http://host/v2/…`. */
  url: string
  headers: {
    get(name: string): string | null
    /** Returns the names in lower case; undefined if they are costly to list. */
    keys?(): Iterable<string>
  }
  /** Body: complete or as a stream. */
  body: Uint8Array | Bytes | null
  /** IP address of the client; undefined for requests inside the process. */
  address?: string
  /** Returns whether the client has disconnected. */
  isAborted?: () => boolean
}

/** Headers of an outgoing request, by name in lower case. */
export class HttpHeaders {
  constructor(private readonly values: ReadonlyMap<string, string>) {}

  get(name: string): string | null {
    return this.values.get(name.toLowerCase()) ?? null
  }

  keys(): Iterable<string> {
    return this.values.keys()
  }

  entries(): Record<string, string> {
    return Object.fromEntries(this.values)
  }
}

/** Response with a text, bytes, a byte stream or no body. */
export class HttpResponse {
  /** True to close the connection without waiting for the rest of the request. */
  hangUp = false
  /** Values of Set-Cookie, the only header that a response can have several times. */
  readonly cookies: string[] = []

  constructor(
    readonly status: number,
    /** Names in lower case. */
    readonly headers: Record<string, string>,
    readonly body: string | Uint8Array | Bytes | null,
  ) {}

  /** Yields the body; nothing without a body. */
  async *bytes(): AsyncGenerator<Uint8Array> {
    if (typeof this.body === 'string') yield Buffer.from(this.body)
    else if (this.body instanceof Uint8Array) yield this.body
    else if (this.body !== null) yield* this.body
  }

  /** Returns the body as text. */
  async text(): Promise<string> {
    if (typeof this.body === 'string') return this.body
    const parts: Uint8Array[] = []
    for await (const part of this.bytes()) parts.push(part)
    return Buffer.concat(parts).toString('utf8')
  }

  /** Returns the body parsed as JSON. Throws SyntaxError if it is not JSON. */
  async json(): Promise<unknown> {
    return JSON.parse(await this.text())
  }
}
