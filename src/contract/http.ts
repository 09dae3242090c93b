/** Bytes as they arrive. */
export type Bytes = AsyncIterable<Uint8Array>

/**
 * A request: the client sends it, the service handles it. A web `Request` satisfies it, and so does a plain
 * object: web objects would cost a short command 20 ms and a server half its append throughput
 * (docs/adr/0002).
 */
export interface HttpRequest {
  method: string
  /** Absolute URL: `http://host/v2/…`. */
  url: string
  headers: {
    get(name: string): string | null
    /** Their names in lower case, where it is quick to say. */
    keys?(): Iterable<string>
  }
  /** The body: complete, or as a stream. */
  body: Uint8Array | Bytes | null
  /** The IP address of the client; undefined for requests inside the process. */
  address?: string
  /** Whether the client has disconnected. */
  gone?: () => boolean
}

/** Headers of a request that is sent, by name in lower case. */
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

/** A response: text, a byte stream or no body. */
export class HttpResponse {
  /** Close the connection without waiting for the rest of the request. */
  hangUp = false
  /** Values of Set-Cookie: the only header that a response can have several times. */
  readonly cookies: string[] = []

  constructor(
    readonly status: number,
    /** Names in lower case. */
    readonly headers: Record<string, string>,
    readonly body: string | Bytes | null,
  ) {}

  /** The body as a stream; empty without one. */
  async *bytes(): AsyncGenerator<Uint8Array> {
    if (typeof this.body === 'string') yield Buffer.from(this.body)
    else if (this.body !== null) yield* this.body
  }

  /** The body as text. */
  async text(): Promise<string> {
    if (typeof this.body === 'string') return this.body
    const parts: Uint8Array[] = []
    for await (const part of this.bytes()) parts.push(part)
    return Buffer.concat(parts).toString('utf8')
  }

  /** The body parsed as JSON. Throws SyntaxError if it is not JSON. */
  async json(): Promise<unknown> {
    return JSON.parse(await this.text())
  }
}
