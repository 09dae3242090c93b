// Records spans with the OpenTelemetry SDK of the process.
import { errorMessageOf } from '../../contract/errors.ts'
import { context, propagation, SpanKind, SpanStatusCode, trace } from '../../vendor/otel.ts'

/** Spans of the SDK that is registered with @opentelemetry/api. */
export class OpenTelemetrySpans {
  private readonly tracer = trace.getTracer('gridline')

  runInSpan<T>(
    {
      name,
      kind,
      attributes,
      from,
    }: {
      name: string
      kind: 'server' | 'client' | 'internal'
      attributes?: Record<string, string | number | boolean>
      from?: { get(name: string): string | null; keys?(): Iterable<string> }
    },
    work: (set: (attributes: Record<string, string | number | boolean>) => void) => Promise<T>,
  ): Promise<T> {
    const active = context.active()
    // If an HTTP instrumentation has already started a span for the request, make this one its child.
    const parent =
      from && !trace.getSpan(active)
        ? propagation.extract(active, from, {
            get: (headers, key) => headers.get(key) ?? undefined,
            keys: (headers) => [...(headers.keys?.() ?? [])],
          })
        : active
    const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL }
    return this.tracer.startActiveSpan(name, { kind: kinds[kind], attributes }, parent, async (span) => {
      try {
        return await work((added) => {
          span.setAttributes(added)
        })
      } catch (error) {
        const message = errorMessageOf(error)
        span.recordException(error instanceof Error ? error : message)
        span.setStatus({ code: SpanStatusCode.ERROR, message })
        throw error
      } finally {
        span.end()
      }
    })
  }

  inject(headers: Record<string, string>): void {
    propagation.inject(context.active(), headers)
  }

  currentTraceId(): string | undefined {
    return trace.getSpanContext(context.active())?.traceId
  }
}
