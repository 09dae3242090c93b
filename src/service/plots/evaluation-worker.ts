/** Thread that evaluates figures, one at a time: sorting millions of points would block all other requests. */
import { parentPort } from 'node:worker_threads'
import { Problem } from '../../contract/errors.ts'
import type { EvaluationAnswer, EvaluationJob } from './evaluation.ts'
import { evaluateFigureText } from './evaluation-text.ts'

function answer(message: EvaluationAnswer, transfer: ArrayBuffer[] = []): void {
  parentPort!.postMessage(message, transfer)
}

parentPort!.on('message', async ({ text, options }: EvaluationJob) => {
  try {
    const result = await evaluateFigureText(text, options)
    answer({ text: result }, [result.buffer])
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { code, message, hint, field } = error
    answer({ problem: { code, message, hint, field } })
  }
})
