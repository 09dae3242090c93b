// Parses and writes YAML files.
import { type ErrorCode, errorMessageOf, Problem } from '../../contract/errors.ts'

/** Hints for frequent mistakes, by the code of their error. */
const HINTS: Readonly<Record<string, string>> = {
  BLOCK_AS_IMPLICIT_KEY: 'A text with a colon is in quotes: title: "Sales: overview"',
  TAB_AS_INDENT: 'Indent with spaces.',
}

/** Other words for some errors, by code or message. */
const MESSAGES: readonly (readonly [pattern: RegExp, message: string])[] = [
  [/^MULTIPLE_DOCS/, 'has several documents; expected one, without --- between them'],
  [/Maximum call stack/, 'is nested too deeply'],
  [/Excessive alias count/, 'repeats its parts too often'],
]

/** Keys whose values are texts, also if they look like numbers: `title: 2.10`. */
const TEXT_KEYS = /^(?:(?:.*[_-])?title|subtitle|name|source|description|text)$/

/** Parses the text of a YAML or JSON file. Throws a problem with this code, and the line at fault. */
export async function parseYaml(file: string, text: string, code: ErrorCode): Promise<unknown> {
  const { isPair, isScalar, parseDocument, visit } = await import('../../vendor/yaml.ts')
  const document = ((): ReturnType<typeof parseDocument> => {
    try {
      // JSON is valid YAML.
      return parseDocument(text, { prettyErrors: true })
    } catch (error) {
      if (error instanceof RangeError) throw new Problem(code, `${file}: is nested too deeply`)
      throw error
    }
  })()
  const [error] = document.errors
  if (error) {
    const [first] = error.message.split('\n')
    const known = MESSAGES.find(([pattern]) => pattern.test(`${error.code} ${first}`))
    throw new Problem(code, `${file}: ${known?.[1] ?? first.replace(/:$/, '')}`, {
      line: error.linePos?.[0].line,
      hint: HINTS[error.code],
    })
  }
  try {
    visit(document, {
      Pair(_, { key, value }) {
        // Keys are names as they are written, and some values texts.
        if (!isScalar(key)) return
        if (key.source !== undefined) key.value = key.source
        if (isScalar(value) && typeof value.value === 'number' && TEXT_KEYS.test(String(key.value)))
          value.value = value.source
      },
      Scalar(_, { value, source = '', range }, path) {
        if (typeof value !== 'number') return
        const list = path.at(-2)
        const isChoice = isPair(list) && isScalar(list.key) && list.key.value === 'enum'
        // As a text, it would be another one.
        const isOther =
          /^[-+]?0\d/.test(source) || !(Number.isSafeInteger(value) || /[.eE]|^0[xo]/.test(source))
        if (isOther || (isChoice && String(value) !== source))
          throw new Problem(code, `${file}: ${source} could be a number or a text`, {
            line: text.slice(0, range?.[0]).split('\n').length,
            hint: `Write "${source}" for a text${Number.isSafeInteger(value) || /[.eE]/.test(source) ? `, ${value} for a number` : ''}.`,
          })
      },
    })
    const value = document.toJS({ maxAliasCount: 100 })
    // Throws for a value that contains itself.
    JSON.stringify(value)
    return value
  } catch (thrown) {
    if (thrown instanceof Problem) throw thrown
    if (thrown instanceof TypeError) throw new Problem(code, `${file}: a value contains itself`)
    if (thrown instanceof RangeError) throw new Problem(code, `${file}: is nested too deeply`)
    const message = errorMessageOf(thrown)
    const known = MESSAGES.find(([pattern]) => pattern.test(message))
    throw new Problem(code, `${file}: ${known?.[1] ?? message}`)
  }
}

/** Formats a value as YAML. */
export async function formatYaml(value: unknown): Promise<string> {
  const { stringify } = await import('../../vendor/yaml.ts')
  return stringify(value, { lineWidth: 100 })
}
