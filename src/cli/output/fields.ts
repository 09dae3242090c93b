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
