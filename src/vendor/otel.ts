// An early version of the API, because it works with the SDKs of all later versions, but not the other way
// round.
export { context, propagation, SpanKind, SpanStatusCode, trace } from 'opentelemetry-api'
