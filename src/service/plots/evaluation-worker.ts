/** Thread that evaluates one figure: sorting millions of points would block all other requests. */
import { parentPort, workerData } from 'node:worker_threads'
import { Problem } from '../../contract/errors.ts'
import type { EvaluationAnswer, EvaluationJob } from './evaluation.ts'
import { evaluateFigureText } from './evaluation-text.ts'

const { text, options }: EvaluationJob = workerData

function answer(message: EvaluationAnswer, transfer: ArrayBuffer[] = []): void {
  parentPort!.postMessage(message, transfer)
}

evaluateFigureText(text, options).then(
  (result) => answer({ text: result }, [result.buffer]),
  (error: unknown) => {
    if (!(error instanceof Problem)) throw error
    const { code, message, hint, field } = error
    answer({ problem: { code, message, hint, field } })
  },
)
