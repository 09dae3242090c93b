import { text as textOf } from 'node:stream/consumers'
import type { Answered, Fetch } from '../client/index.ts'
import type { RunningService } from '../service/index.ts'

/** A `fetch` that calls the service in this process, without sockets or web objects. */
export function embeddedFetch(service: RunningService): Fetch {
  return async (url, { method, headers, body }) => {
    const reply = await service.handle({
      method,
      url,
      headers: { get: (name) => headers[name.toLowerCase()] ?? null },
      body:
        body === undefined
          ? null
          : typeof body === 'string' || body instanceof Uint8Array
            ? once(body)
            : body,
    })
    return answered(reply)
  }
}

async function* once(body: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield Buffer.from(body)
}

function answered({ status, headers, body }: Awaited<ReturnType<RunningService['handle']>>): Answered {
  const bytes = body === null || typeof body === 'string' ? once(body ?? '') : body
  const text = async (): Promise<string> => {
    if (body === null || typeof body === 'string') return body ?? ''
    return textOf(body)
  }
  return {
    status,
    ok: status >= 200 && status < 300,
    statusText: '',
    headers: new Map(Object.entries(headers)),
    body: bytes,
    text,
    json: async () => JSON.parse(await text()),
  }
}
