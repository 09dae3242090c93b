/** Calls of the contract over a fetch. */
export { type Answered, type BodySource, Client, type Fetch, headerText } from './client.ts'
export { lookup, lookupIfThere, resolve, startOf } from './resolve.ts'
