/** Evaluates small figures at once, and large ones in a thread with limits of time and memory. */
import type { Worker } from 'node:worker_threads'
import { buildPath } from '../../contract/build-path.ts'
import { type ErrorCode, Problem } from '../../contract/errors.ts'
import type { Limits } from '../../contract/limits.ts'
import { Admission } from '../core/admission.ts'
import type { EvaluationOptions } from './evaluation-text.ts'

/** Maximum size of a figure that is evaluated without a thread. */
const MAX_INLINE_BYTES = 64 * 1024
/** Maximum result of an evaluation without a thread. Beyond it, the evaluation is repeated in a thread. */
const INLINE_LIMITS = { traces: 200, frameTraces: 500, shared: 256 * 1024 }
/** Time after which a thread without a figure ends, in ms. */
const MAX_IDLE_MS = 10_000
/** Maximum size of a figure after which its thread, and its memory, is kept for the next one. */
const MAX_REUSED_BYTES = 4 * 1024 * 1024
/** Maximum heap of a thread. */
const MAX_HEAP_MB = 1024
/** Interval of checks for the timeout and for disconnected clients, in ms. */
const ABORT_CHECK_MS = 200
/** Maximum number of threads. */
const MAX_THREADS = 2
/** Maximum number of figures that wait for a thread. */
const MAX_WAITING_FIGURES = 32

/** Input of a thread. */
export interface EvaluationJob {
  text: Uint8Array
  options: EvaluationOptions
}

/** Result of a thread. */
export type EvaluationAnswer =
  | { text: Uint8Array }
  | { problem: { code: ErrorCode; message: string; hint?: string; field?: string } }

/** Context of an evaluation. */
export interface EvaluationRequest {
  /** Owner of the plot, or user who sent the figure: no user can occupy all threads. */
  owner: string
  limits: Limits
  /** Returns whether the client has disconnected. */
  isAborted?: () => boolean
}

let threads: Admission | undefined

/** Evaluates the JSON text of a figure. Throws `too_large`, `bad_figure`, `overloaded` and `aborted`. */
export async function evaluateFigure(
  text: Uint8Array,
  options: EvaluationOptions,
  { owner, limits, isAborted = () => false }: EvaluationRequest,
): Promise<Buffer> {
  if (text.length <= MAX_INLINE_BYTES) {
    const { evaluateFigureText: evaluateText } = await import('./evaluation-text.ts')
    try {
      return toBuffer(await evaluateText(text, options, INLINE_LIMITS))
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'too_large')) throw error
    }
  }
  threads ??= new Admission(
    { running: MAX_THREADS, waiting: MAX_WAITING_FIGURES, wait: limits.wait_seconds * 1000 },
    'transform_seconds',
  )
  return threads.run(owner, () => evaluateInThread({ text, options }, limits, isAborted), isAborted)
}

/** Evaluates a figure in a thread. */
async function evaluateInThread(
  job: EvaluationJob,
  limits: Limits,
  isAborted: () => boolean,
): Promise<Buffer> {
  const worker = takeIdleWorker() ?? startWorker()
  let isReusable = false
  try {
    worker.postMessage(job)
    const result = await waitForResult(worker, limits, isAborted)
    isReusable = job.text.length <= MAX_REUSED_BYTES
    return toBuffer(result)
  } finally {
    removeListeners(worker)
    if (isReusable) keepIdle(worker)
    else await worker.terminate()
  }
}

function startWorker(): Worker {
  const { Worker } = process.getBuiltinModule('node:worker_threads')
  return new Worker(buildPath('evaluation-worker.js'), {
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    env: {},
    execArgv: [],
  })
}

/** Threads that have evaluated a figure, and the timers that end them: starting one takes longer than most figures. */
const idleWorkers = new Map<Worker, NodeJS.Timeout>()

function takeIdleWorker(): Worker | undefined {
  const [first] = idleWorkers
  if (!first) return undefined
  const [worker, timer] = first
  idleWorkers.delete(worker)
  clearTimeout(timer)
  removeListeners(worker)
  worker.ref()
  return worker
}

/** Removes the listeners of this module. Node has others, without which messages do not arrive. */
function removeListeners(worker: Worker): void {
  for (const name of ['message', 'error', 'exit']) worker.removeAllListeners(name)
}

/** Keeps a thread for the next figure, without keeping the process. */
function keepIdle(worker: Worker): void {
  const end = (): void => {
    idleWorkers.delete(worker)
    worker.terminate()
  }
  idleWorkers.set(worker, setTimeout(end, MAX_IDLE_MS).unref())
  worker.once('error', end)
  worker.once('exit', end)
  worker.unref()
}

/** Waits for the result of a thread. Rejects after `transform_seconds`, or when the client disconnects. */
function waitForResult(
  worker: Worker,
  { transform_seconds }: Limits,
  isAborted: () => boolean,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const deadline = performance.now() + transform_seconds * 1000
    const timer = setInterval(() => {
      if (isAborted()) reject(new Problem('aborted', 'the client disconnected'))
      else if (performance.now() > deadline) reject(createTimeoutError(transform_seconds))
    }, ABORT_CHECK_MS)
    const stopTimer = (): void => clearInterval(timer)
    worker.once('message', (answer: EvaluationAnswer) => {
      stopTimer()
      if ('text' in answer) return resolve(answer.text)
      const { code, message, ...details } = answer.problem
      reject(new Problem(code, message, details))
    })
    worker.once('error', (error: NodeJS.ErrnoException) => {
      stopTimer()
      reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? createMemoryError() : error)
    })
    worker.once('exit', stopTimer)
  })
}

const TOO_LARGE_HINT = 'Evaluate the transforms before, or show fewer rows.'

function createTimeoutError(seconds: number): Problem {
  return new Problem(
    'too_large',
    `evaluating the transforms of the figure takes longer than ${seconds} s (limit transform_seconds)`,
    { hint: TOO_LARGE_HINT },
  )
}

function createMemoryError(): Problem {
  return new Problem('too_large', 'evaluating the transforms of the figure needs too much memory', {
    hint: TOO_LARGE_HINT,
  })
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
