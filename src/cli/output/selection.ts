// Selects fields of output: --json fields and --jq.
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import { findClosest, withSuggestion } from '../../contract/message-texts.ts'

/** Throws `usage` for fields that a command does not print. Undefined `known`: any field is allowed. */
export function assertFields(
  fields: readonly string[],
  knownFields: readonly string[] | undefined,
  hint = 'Use --json without fields to see what is available.',
): void {
  if (!knownFields) return
  for (const field of fields) {
    if (knownFields.includes(field)) continue
    throw new Problem('usage', `no field named ${field}`, {
      hint: withSuggestion(findClosest(field, knownFields), hint),
    })
  }
}

/** Selects fields of an object. Missing fields are null. */
export function pickFields(row: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field, row[field] ?? null]))
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Runs a jq expression on JSON. No listener can run meanwhile, so signals end the process. */
async function runJq(text: string, expression: string): Promise<string> {
  const jq = await import('../../vendor/jq.ts')
  const listeners = SIGNALS.map((signal) => [signal, process.rawListeners(signal)] as const)
  for (const signal of SIGNALS) process.removeAllListeners(signal)
  try {
    return await jq.raw(text, expression, ['-r', '-c'])
  } finally {
    for (const [signal, before] of listeners)
      for (const listener of before) process.on(signal, listener as NodeJS.SignalsListener)
  }
}

/** Returns the first line of a jq error. */
function jqErrorText(error: unknown): string {
  return errorMessageOf(error).trim().split('\n')[0].replace(/^jq: /, '')
}

/** Compiles an expression without running it. Throws `usage`. */
export async function assertJq(expression: string): Promise<void> {
  try {
    await runJq('null', `empty | (${expression}\n)`)
  } catch (wrappedError) {
    // Run the original expression for a message that refers to it.
    const error = await runJq('null', expression).then(
      () => wrappedError,
      (originalError) => originalError,
    )
    throw new Problem('usage', `--jq: ${jqErrorText(error)}`)
  }
}

/** Returns the results of a jq expression, one per line. Strings are unquoted, as with `jq -r`. */
export async function applyJq(value: unknown, expression: string): Promise<string> {
  return applyJqToText(JSON.stringify(value), expression)
}

/** Runs a jq expression on JSON text. Throws `failed`. */
async function applyJqToText(json: string, expression: string): Promise<string> {
  try {
    const text = await runJq(json, expression)
    return text === '' ? '' : `${text.replace(/\n$/, '')}\n`
  } catch (error) {
    throw new Problem('failed', `--jq: ${jqErrorText(error)}`, { hint: 'The command itself succeeded.' })
  }
}

/** Size of a batch of rows, in bytes. */
const BATCH_BYTES = 1024 * 1024

/** Yields the results of a jq expression for each line of NDJSON, in batches. */
export async function* applyJqToLines(
  bytes: AsyncIterable<Uint8Array>,
  expression: string,
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder()
  let text = ''
  const filterLines = async (lines: string): Promise<Uint8Array> => {
    const rows = lines.split('\n').filter((line) => line !== '')
    return Buffer.from(await applyJqToText(`[${rows.join(',')}]`, `.[] | (${expression}\n)`))
  }
  for await (const chunk of bytes) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length < BATCH_BYTES) continue
    const end = text.lastIndexOf('\n') + 1
    if (end === 0) continue
    yield await filterLines(text.slice(0, end))
    text = text.slice(end)
  }
  if (text !== '') yield await filterLines(text)
}
