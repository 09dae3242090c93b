/** Client of the API. */
export {
  type BodySource,
  type CallOptions,
  Client,
  type ClientOptions,
  encodeHeader,
  type Fetch,
  type SentRequest,
} from './client.ts'
export { isTransient, type PartsEvents, type PartsSource, uploadInParts } from './parts.ts'
export {
  baseOfLink,
  type FileKind,
  lookup,
  lookupOrUndefined,
  resolveFid,
  resolveVersion,
  splitFolderId,
} from './resolve.ts'
