// Formats output by --template.
import { Problem } from '../../contract/errors.ts'
import { findClosest, withSuggestion } from '../../contract/message-texts.ts'

/** Formats a result as a line of text. */
export type Template = (row: Record<string, unknown>) => string

/**
 * Compiles a template such as `{filename}: {row_count} rows`. A field is a name or path (`user.name`);
 * missing fields are empty, objects become JSON. `\n`, `\t` and `\\` are escapes; `{{` and `}}` are braces.
 * Throws `usage`.
 */
export function compileTemplate(text: string, knownFields: readonly string[] | undefined): Template {
  const parts: (string | readonly string[])[] = []
  for (const [part, path] of text.matchAll(/\{\{|\}\}|\\[nt\\]|\{([^{}]+)\}|[^{}\\]+|\\|[{}]/g)) {
    if (path === undefined) {
      parts.push(unescapeTemplate(part))
      continue
    }
    const names = path.trim().split('.')
    if (knownFields && !knownFields.includes(names[0])) {
      const suggestion = findClosest(names[0], knownFields)
      throw new Problem('usage', `--template: no field named ${names[0]}`, {
        hint: withSuggestion(suggestion, 'Use --json to see what is available.'),
      })
    }
    parts.push(names)
  }
  return (row) => parts.map((part) => (typeof part === 'string' ? part : formatField(row, part))).join('')
}

/** Resolves escapes in a template. Throws `usage` for a single brace. */
function unescapeTemplate(part: string): string {
  if (part === '{' || part === '}')
    throw new Problem('usage', `--template: a single ${part}`, {
      hint: 'Write fields as {filename}, and braces as {{ and }}.',
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

/** Returns a value by its path, as text. */
function formatField(row: Record<string, unknown>, names: readonly string[]): string {
  let value: unknown = row
  for (const name of names)
    value =
      typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Object(value)[name] : null
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
