/** The trace of a request. Passed along in calls: AsyncLocalStorage would slow down every promise of the process. */
/** The trace that a request belongs to: headers of the W3C recommendation Trace Context. */
export interface Trace {
  /** 32 hexadecimal digits. */
  id: string
  traceparent: string
  tracestate?: string
}

type Attributes = Record<string, string | number | boolean>

/** Records spans. Without OpenTelemetry in the process, none are recorded. */
interface Spans {
  /** Runs `work` in a span, below the one of the caller. `from`: headers of the request that the span serves. */
  run<T>(span: SpanOf, work: (set: (attributes: Attributes) => void) => Promise<T>): Promise<T>
  /** Adds headers with the present span to a request. */
  inject(headers: Record<string, string>): void
  /** The id of the present trace. */
  id(): string | undefined
}

export interface SpanOf {
  name: string
  kind: 'server' | 'client' | 'internal'
  attributes?: Attributes
  /** The headers of the request that is served. */
  from?: { get(name: string): string | null; keys?(): Iterable<string> }
}

let spans: Spans | undefined

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/
const MAX_STATE = 512

/** The trace that headers name; undefined without one, and if it is malformed. */
export function traceOf(headers: { get(name: string): string | null }): Trace | undefined {
  const traceparent = headers.get('traceparent')?.trim()
  const [, version, id, parent, rest] = (traceparent && TRACEPARENT.exec(traceparent)) || []
  if (id === undefined || version === 'ff' || (version === '00' && rest)) return undefined
  if (/^0+$/.test(id) || /^0+$/.test(parent)) return undefined
  const tracestate = headers.get('tracestate') ?? undefined
  const isShort = tracestate !== undefined && tracestate.length <= MAX_STATE
  return { id, traceparent: traceparent!.slice(0, 55), tracestate: isShort ? tracestate : undefined }
}

/** Headers for a request to another server, sent for a request with this trace. */
export function traceHeaders(trace?: Trace): Record<string, string> {
  const headers: Record<string, string> = {}
  if (spans) spans.inject(headers)
  if (trace && headers.traceparent === undefined) {
    headers.traceparent = trace.traceparent
    if (trace.tracestate !== undefined) headers.tracestate = trace.tracestate
  }
  return headers
}

/** The id of the trace of a request: that of its span, or the one that its headers name. */
export function traceId(trace: Trace | undefined): string | undefined {
  return spans?.id() ?? trace?.id
}

/** Runs `work` in a span. `set` adds attributes to it. */
export function span<T>(of: SpanOf, work: (set: (attributes: Attributes) => void) => Promise<T>): Promise<T> {
  return spans ? spans.run(of, work) : work(ignore)
}

function ignore(): void {}

/**
 * Uses the OpenTelemetry that the operator has loaded into the process, such as with `node --import`. Returns whether
 * there is one.
 */
export async function useOpenTelemetry(): Promise<boolean> {
  // Where @opentelemetry/api keeps what an SDK has registered.
  if (!(Symbol.for('opentelemetry.js.api.1') in globalThis)) return false
  const { OpenTelemetrySpans } = await import('./open-telemetry.ts')
  spans = new OpenTelemetrySpans()
  return true
}
