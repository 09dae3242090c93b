// Traces of requests. Passed along in calls: AsyncLocalStorage would slow down every promise of the process.
/** Trace that a request belongs to: headers of the W3C recommendation Trace Context. */
export interface Trace {
  /** 32 hexadecimal digits. */
  id: string
  traceparent: string
  tracestate?: string
}

type Attributes = Record<string, string | number | boolean>

/** Records spans. Without OpenTelemetry in the process, none are recorded. */
interface Spans {
  /** Runs `work` in a child span of the current one. `from`: headers of the request that the span serves. */
  runInSpan<T>(span: SpanOptions, work: (set: (attributes: Attributes) => void) => Promise<T>): Promise<T>
  /** Adds headers with the current span to a request. */
  inject(headers: Record<string, string>): void
  /** Returns the id of the current trace. */
  currentTraceId(): string | undefined
}

export interface SpanOptions {
  name: string
  kind: 'server' | 'client' | 'internal'
  attributes?: Attributes
  /** Headers of the request that is served. */
  from?: { get(name: string): string | null; keys?(): Iterable<string> }
}

let spans: Spans | undefined

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/
/** Maximum length of `tracestate`. Longer ones are not passed on. */
const MAX_TRACESTATE_CHARACTERS = 512

/** Parses the trace headers of a request; undefined if they are missing or malformed. */
export function parseTrace(headers: { get(name: string): string | null }): Trace | undefined {
  const traceparent = headers.get('traceparent')?.trim()
  const [, version, id, parent, rest] = (traceparent && TRACEPARENT.exec(traceparent)) || []
  if (id === undefined || version === 'ff' || (version === '00' && rest)) return undefined
  if (/^0+$/.test(id) || /^0+$/.test(parent)) return undefined
  const tracestate = headers.get('tracestate') ?? undefined
  const isShort = tracestate !== undefined && tracestate.length <= MAX_TRACESTATE_CHARACTERS
  return { id, traceparent: traceparent!.slice(0, 55), tracestate: isShort ? tracestate : undefined }
}

/** Returns trace headers for a request to another server. */
export function traceHeaders(trace?: Trace): Record<string, string> {
  const headers: Record<string, string> = {}
  if (spans) spans.inject(headers)
  if (trace && headers.traceparent === undefined) {
    headers.traceparent = trace.traceparent
    if (trace.tracestate !== undefined) headers.tracestate = trace.tracestate
  }
  return headers
}

/** Returns the trace id of the current span, or of `trace`. */
export function currentTraceId(trace: Trace | undefined): string | undefined {
  return spans?.currentTraceId() ?? trace?.id
}

/** Runs `work` in a span. `set` adds attributes to it. Without OpenTelemetry, only runs `work`. */
export function runInSpan<T>(
  options: SpanOptions,
  work: (set: (attributes: Attributes) => void) => Promise<T>,
): Promise<T> {
  return spans ? spans.runInSpan(options, work) : work(noop)
}

function noop(): void {}

/** Uses the OpenTelemetry SDK that `node --import` has loaded, if any. Returns whether there is one. */
export async function useOpenTelemetry(): Promise<boolean> {
  // @opentelemetry/api keeps the registered SDK under this symbol.
  if (!(Symbol.for('opentelemetry.js.api.1') in globalThis)) return false
  const { OpenTelemetrySpans } = await import('./open-telemetry.ts')
  spans = new OpenTelemetrySpans()
  return true
}
