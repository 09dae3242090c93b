/// <reference lib="dom" />
// API calls of page scripts, as the signed-in user.
import type { ChartClient } from '../charts/normalize/read-values.ts'

/** Returns the message and the hint of an error. */
export function formatError(error: unknown): string {
  const { message, hint } = error as { message: string; hint?: string }
  return hint ? `${message}. ${hint}` : message
}

/** Returns an API URL with the id of a file and a query. */
export function apiUrl(path: string, id: string, query: Record<string, unknown> = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const item of [value].flat()) if (item !== undefined) parameters.append(name, String(item))
  const text = parameters.toString()
  return path.replace(':fid', encodeURIComponent(id)) + (text && `?${text}`)
}

/** Sends a request. Throws an error with message and hint if the response is not 2xx. */
export async function sendRequest(url: string, options?: RequestInit): Promise<Response> {
  const response = await fetch(url, options)
  if (response.ok) return response
  const body = await response.json().catch(() => ({}))
  const [first] = body.errors ?? []
  throw Object.assign(new Error(body.detail ?? first?.message ?? `the server answered ${response.status}`), {
    hint: first?.hint,
  })
}

/** Loads JSON. Throws as `sendRequest`. */
export async function loadJson<T>(url: string): Promise<T> {
  return (await sendRequest(url)).json()
}

/** Returns the first element that a selector matches. Throws if it is missing or of another class. */
export function findElement<T extends Element>(selector: string, elementClass: new () => T): T {
  const element = document.querySelector(selector)
  if (element instanceof elementClass) return element
  throw new Error(`no element ${selector}`)
}

/** Returns a client for charts that uses the API paths of a page. */
export function createChartClient({ describe = '', rows = '', columns = '' }: DOMStringMap): ChartClient {
  return {
    call: (_, { fid: id, query }) => loadJson(apiUrl(describe, id, query)),
    async response(name, { fid: id, query }) {
      const response = await sendRequest(apiUrl(name === 'columns.get' ? columns : rows, id, query))
      return { json: () => response.json(), bytes: () => readChunks(response) }
    },
  }
}

/** Yields the chunks of a response body. */
async function* readChunks(response: Response): AsyncGenerator<Uint8Array> {
  const reader = response.body!.getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    yield value
  }
}
