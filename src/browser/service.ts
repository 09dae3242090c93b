/// <reference lib="dom" />
// What scripts of pages ask of the service, in the name of who is signed in.
import type { ChartClient } from '../charts/normalize/values.ts'

/** What an error says, with what to do. */
export function textOf(error: unknown): string {
  const { message, hint } = error as { message: string; hint?: string }
  return hint ? `${message}. ${hint}` : message
}

/** An address of the service, with the id of a file and with a query. */
export function address(path: string, id: string, query: Record<string, unknown> = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined) parameters.append(name, String(one))
  const text = parameters.toString()
  return path.replace(':fid', encodeURIComponent(id)) + (text && `?${text}`)
}

export async function ask(url: string, options?: RequestInit): Promise<Response> {
  const response = await fetch(url, options)
  if (response.ok) return response
  const answer = await response.json().catch(() => ({}))
  const [first] = answer.errors ?? []
  throw Object.assign(
    new Error(answer.detail ?? first?.message ?? `the server answered ${response.status}`),
    {
      hint: first?.hint,
    },
  )
}

/** What charts ask of the service, at the addresses that a page names. */
export function chartClient({ describe = '', rows = '', columns = '' }: DOMStringMap): ChartClient {
  return {
    async call(_, { fid: id, query }) {
      return (await ask(address(describe, id, query))).json()
    },
    async response(name, { fid: id, query }) {
      const response = await ask(address(name === 'columns.get' ? columns : rows, id, query))
      return { json: () => response.json(), bytes: () => bytesOf(response) }
    },
  }
}

async function* bytesOf(response: Response): AsyncGenerator<Uint8Array> {
  const reader = response.body!.getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    yield value
  }
}
