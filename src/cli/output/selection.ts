import { Problem } from '../../contract/errors.ts'
import { operations } from '../../contract/operations.ts'
import type { ObjectSchema } from '../../contract/schema.ts'

/** Every field an answer of the API can have, and those of the command line's own. */
export function fieldNames(): ReadonlySet<string> {
  const names = new Set([
    'name',
    'api_key',
    'scopes',
    'expires_at',
    'server',
    'setting',
    'value',
    'source',
    'exists',
    'warnings',
    'target',
    'rows',
    'columns',
    'current',
    'url',
    'user',
    'file',
    'folder',
    'share_link',
    'who',
  ])
  const visit = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null) return
    const { properties, items, anyOf } = schema as Partial<ObjectSchema>
    for (const [name, inner] of Object.entries(properties ?? {})) {
      names.add(name)
      visit(inner)
    }
    visit(items)
    for (const inner of anyOf ?? []) visit(inner)
  }
  for (const { result } of Object.values(operations)) visit(result)
  return names
}

/** Refuses fields that no answer has. */
export function checkFields(fields: readonly string[]): void {
  const known = fieldNames()
  for (const field of fields) {
    if (!known.has(field)) {
      throw new Problem('usage', `no field is called ${field}`, {
        hint: 'See what there is with --json alone.',
      })
    }
  }
}

/** Only these fields; null where this one thing has none of that name. */
export function pick(row: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field, row[field] ?? null]))
}

async function run(value: unknown, expression: string): Promise<string> {
  const jq = await import('jq-wasm')
  return jq.raw(JSON.stringify(value), expression, ['-r', '-c'])
}

function firstLine(error: unknown): string {
  return (error as Error).message.trim().split('\n')[0].replace(/^jq: /, '')
}

/** Compiles an expression without running it. */
export async function checkJq(expression: string): Promise<void> {
  try {
    await run(null, `empty | (${expression}\n)`)
  } catch (wrapped) {
    // The message is about the expression as it was given.
    const error = await run(null, expression).then(
      () => wrapped,
      (own) => own,
    )
    throw new Problem('usage', `--jq: ${firstLine(error)}`)
  }
}

/** The results of a jq expression, one a line; strings come without quotes, as `jq -r` prints them. */
export async function jqOn(value: unknown, expression: string): Promise<string> {
  try {
    const text = await run(value, expression)
    return text === '' ? '' : `${text.replace(/\n$/, '')}\n`
  } catch (error) {
    throw new Problem('failed', `--jq: ${firstLine(error)}`, { hint: 'The command itself was done.' })
  }
}
