// An early version: one works with the SDKs of all later ones, as an application loads them, and not the other way round.
export { context, propagation, SpanKind, SpanStatusCode, trace } from 'opentelemetry-api'
