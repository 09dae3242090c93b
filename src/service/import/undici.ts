/** In a file of its own, which is loaded when something is fetched: it takes longer than the rest of the service. */
export { Agent, request } from 'undici'
