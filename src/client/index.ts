/** Client of the API. */
export {
  type BodySource,
  type CallOptions,
  Client,
  type ClientOptions,
  type Fetch,
  headerText,
  type SentRequest,
} from './client.ts'
export { isTransient, type PartsEvents, type PartsSource, uploadInParts } from './parts.ts'
export { baseOfLink, type Kind, lookup, lookupIfThere, resolve, resolveVersion, startOf } from './resolve.ts'
