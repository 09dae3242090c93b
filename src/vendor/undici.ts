export { Agent, EnvHttpProxyAgent, fetch, type RequestInit, type Response, request } from 'undici'
