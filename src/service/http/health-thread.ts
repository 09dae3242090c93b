/** Serves `/healthz` on a separate port and thread, so that it responds at once under any load. */
import type { Worker } from 'node:worker_threads'
import { Problem } from '../../contract/errors.ts'

/** Interval at which the event loop of the server reports that it runs, in ms. */
const HEARTBEAT_MS = 100
/** Maximum time without such a report, in ms. After it, the server counts as stuck. */
const MAX_SILENCE_MS = 10_000

/** Source of the thread. It imports no modules of Gridline, so that it starts in a few milliseconds. */
const THREAD_SOURCE = `
const { parentPort, workerData: { beat, host, port, silence } } = require('node:worker_threads')
const last = new Float64Array(beat)
const server = require('node:http').createServer((request, response) => {
  const isHealth = request.url === '/healthz'
  const runs = Date.now() - last[0] < silence
  response.writeHead(isHealth ? (runs ? 200 : 503) : 404, { 'content-type': 'application/json' })
  response.end(JSON.stringify(isHealth ? { status: runs ? 'ok' : 'stuck' } : {}))
})
server.on('error', ({ code }) => parentPort.postMessage({ code }))
server.listen(port, host, () => parentPort.postMessage({ port: server.address().port }))
`

interface HealthThread {
  port: number
  close(): Promise<void>
}

/**
 * Starts the thread. It responds 503 if the event loop of this process is stuck for 10 s. Throws `failed`.
 */
export async function startHealthThread(host: string, port: number): Promise<HealthThread> {
  const { Worker } = process.getBuiltinModule('node:worker_threads')
  const lastBeat = new Float64Array(new SharedArrayBuffer(8))
  const beat = (): void => {
    lastBeat[0] = Date.now()
  }
  beat()
  const timer = setInterval(beat, HEARTBEAT_MS).unref()
  const worker = new Worker(THREAD_SOURCE, {
    eval: true,
    env: {},
    execArgv: [],
    workerData: { beat: lastBeat.buffer, host, port, silence: MAX_SILENCE_MS },
  })
  const close = async (): Promise<void> => {
    clearInterval(timer)
    await worker.terminate()
  }
  const message = await waitForMessage(worker)
  worker.unref()
  if (message.port !== undefined) return { port: message.port, close }
  await close()
  throw new Problem('failed', `cannot listen on ${host}:${port}: ${message.code}`, {
    hint: 'Use another --health-port.',
  })
}

function waitForMessage(worker: Worker): Promise<{ port?: number; code?: string }> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}
