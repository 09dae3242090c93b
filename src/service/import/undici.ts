/** A file of its own, loaded on first use: undici takes longer to load than the rest of the service. */
export { Agent, request } from 'undici'
