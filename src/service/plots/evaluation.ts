/** Evaluates figures: what is little work at once, other ones in a thread of their own with a limit of time and memory. */
import type { Worker } from 'node:worker_threads'
import { built } from '../../contract/built.ts'
import { type ErrorCode, Problem } from '../../contract/errors.ts'
import type { Limits } from '../../contract/limits.ts'
import { Admission } from '../core/admission.ts'
import type { EvaluationOptions } from './evaluation-text.ts'

/** Larger figures are evaluated in a thread, in bytes. */
const THREAD_BYTES = 64 * 1024
/** As are those that become more than this. */
const LITTLE = { traces: 200, frameTraces: 500, shared: 256 * 1024 }
/** Memory of a thread. */
const HEAP_MB = 1024
/** How often a thread is asked whether somebody still waits for it, in ms. */
const CHECK_MS = 200
/** Threads at once, and figures that wait for one. */
const THREADS = 2
const MAX_WAITING = 32

/** What a thread is given. */
export interface EvaluationJob {
  text: Uint8Array
  options: EvaluationOptions
}

/** What a thread answers. */
export type EvaluationAnswer =
  | { text: Uint8Array }
  | { problem: { code: ErrorCode; message: string; hint?: string; field?: string } }

/** Whom a figure is evaluated for. */
export interface EvaluationRequest {
  /** The owner of the plot, or the user who sends the figure: nobody has all threads. */
  owner: string
  limits: Limits
  /** Whether nobody waits for it any more. */
  gone?: () => boolean
}

let threads: Admission | undefined

/** Returns the text of a figure with its transforms evaluated. Throws `too_large`, `bad_figure`, `overloaded` and `aborted`. */
export async function evaluate(
  text: Uint8Array,
  options: EvaluationOptions,
  { owner, limits, gone = () => false }: EvaluationRequest,
): Promise<Buffer> {
  if (text.length <= THREAD_BYTES) {
    const { evaluateText } = await import('./evaluation-text.ts')
    try {
      return asBuffer(await evaluateText(text, options, LITTLE))
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'too_large')) throw error
    }
  }
  threads ??= new Admission(
    { running: THREADS, waiting: MAX_WAITING, wait: limits.wait_seconds * 1000 },
    'transform_seconds',
  )
  return threads.run(owner, () => inThread({ text, options }, limits, gone), gone)
}

async function inThread(job: EvaluationJob, limits: Limits, gone: () => boolean): Promise<Buffer> {
  const { Worker } = process.getBuiltinModule('node:worker_threads')
  const worker = new Worker(built('evaluation-worker.js'), {
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    env: {},
    execArgv: [],
  })
  try {
    return asBuffer(await answerOf(worker, limits, gone))
  } finally {
    await worker.terminate()
  }
}

function answerOf(worker: Worker, { transform_seconds }: Limits, gone: () => boolean): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const until = performance.now() + transform_seconds * 1000
    const watch = setInterval(() => {
      if (gone()) reject(new Problem('aborted', 'the client disconnected'))
      else if (performance.now() > until) reject(tooLong(transform_seconds))
    }, CHECK_MS)
    const end = (): void => clearInterval(watch)
    worker.once('message', (answer: EvaluationAnswer) => {
      end()
      if ('text' in answer) return resolve(answer.text)
      const { code, message, ...more } = answer.problem
      reject(new Problem(code, message, more))
    })
    worker.once('error', (error: NodeJS.ErrnoException) => {
      end()
      reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge() : error)
    })
    worker.once('exit', end)
  })
}

const HINT = 'Evaluate the transforms before, or show fewer rows.'

function tooLong(seconds: number): Problem {
  return new Problem(
    'too_large',
    `evaluating the transforms of the figure takes longer than ${seconds} s (limit transform_seconds)`,
    { hint: HINT },
  )
}

function tooLarge(): Problem {
  return new Problem('too_large', 'evaluating the transforms of the figure needs too much memory', {
    hint: HINT,
  })
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
