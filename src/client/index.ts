/** Client of the API. */
export {
  type Answered,
  type BodySource,
  Client,
  type ClientOptions,
  type Fetch,
  headerText,
} from './client.ts'
export { baseOfLink, type Kind, lookup, lookupIfThere, resolve, startOf } from './resolve.ts'
