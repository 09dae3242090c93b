export { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
