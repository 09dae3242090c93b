import { closest, hintWith } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'

/** Turns a result into a line of text. */
export type Template = (row: Record<string, unknown>) => string

/**
 * Compiles `{filename}: {row_count} rows`. A field is a name, or a path such as `user.name`; missing ones are empty, and
 * objects are JSON. `\n`, `\t` and `\\` are a line end, a tab and a backslash; `{{` and `}}` are braces. Throws `usage`.
 */
export function templateOf(text: string, known: readonly string[] | undefined): Template {
  const parts: (string | readonly string[])[] = []
  for (const [part, path] of text.matchAll(/\{\{|\}\}|\\[nt\\]|\{([^{}]+)\}|[^{}\\]+|\\|[{}]/g)) {
    if (path === undefined) {
      parts.push(plainOf(part))
      continue
    }
    const names = path.trim().split('.')
    if (known && !known.includes(names[0])) {
      const meant = closest(names[0], known)
      throw new Problem('usage', `--template: no field named ${names[0]}`, {
        hint: hintWith(meant, 'Use --json to see what is available.'),
      })
    }
    parts.push(names)
  }
  return (row) => parts.map((part) => (typeof part === 'string' ? part : valueAt(row, part))).join('')
}

function plainOf(part: string): string {
  if (part === '{' || part === '}')
    throw new Problem('usage', `--template: a single ${part}`, {
      hint: 'Fields are written {filename}; braces are written {{ and }}.',
    })
  const escapes: Readonly<Record<string, string>> = {
    '{{': '{',
    '}}': '}',
    '\\n': '\n',
    '\\t': '\t',
    '\\\\': '\\',
  }
  return escapes[part] ?? part
}

function valueAt(row: Record<string, unknown>, names: readonly string[]): string {
  let value: unknown = row
  for (const name of names)
    value =
      typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Object(value)[name] : null
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
