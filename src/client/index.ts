/** Client of the API. */
export {
  type BodySource,
  type CallOptions,
  Client,
  type ClientOptions,
  encodeHeader as headerText,
  type Fetch,
  type SentRequest,
} from './client.ts'
export { isTransient, type PartsEvents, type PartsSource, uploadInParts } from './parts.ts'
export {
  baseOfLink,
  type FileKind as Kind,
  lookup,
  lookupOrUndefined as lookupIfThere,
  resolveFid as resolve,
  resolveVersion,
  splitFolderId as startOf,
} from './resolve.ts'
