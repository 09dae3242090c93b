// Parses and writes YAML files.
import { type ErrorCode, errorMessageOf, Problem } from '../../contract/errors.ts'
import { isJson } from '../../json/index.ts'

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
const TEXT_KEYS = /^(?:(?:.*[_-])?title|subtitle|name|source|description|text|grid|table|chart)$/

type Yaml = typeof import('../../vendor/yaml.ts')
type Document = ReturnType<Yaml['parseDocument']>

/**
 * Makes keys, and the values of `TEXT_KEYS`, texts as they are written. Throws for numbers that may have been meant as
 * texts: those with leading zeros, and choices that are written in another way than the number.
 */
function keepTexts(
  { isPair, isScalar, visit }: Yaml,
  document: Document,
  refuse: (source: string, at?: number) => Problem,
) {
  visit(document, {
    Pair(_, { key, value }) {
      if (!isScalar(key)) return
      if (key.source !== undefined) key.value = key.source
      if (isScalar(value) && typeof value.value === 'number' && TEXT_KEYS.test(String(key.value)))
        value.value = value.source
    },
    Scalar(_, { value, source = '', range }, path) {
      if (typeof value !== 'number') return
      const list = path.at(-2)
      const isChoice = isPair(list) && isScalar(list.key) && list.key.value === 'enum'
      if (/^[-+]?0\d/.test(source) || (isChoice && String(value) !== source)) throw refuse(source, range?.[0])
    },
  })
}

/** Parses the text of a YAML or JSON file. Throws a problem with this code, and the line at fault. */
export async function parseYaml(file: string, text: string, code: ErrorCode): Promise<unknown> {
  const yaml = await import('../../vendor/yaml.ts')
  const { isScalar, parseDocument } = yaml
  const textOf = (key: unknown): unknown => (isScalar(key) ? (key.source ?? key.value) : key)
  const document = ((): Document => {
    try {
      // JSON is valid YAML.
      return parseDocument(text, { prettyErrors: true, uniqueKeys: (a, b) => textOf(a) === textOf(b) })
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
    // JSON has quotes around all texts.
    if (!isJson(text))
      keepTexts(yaml, document, (source, at) => {
        const line = text.slice(0, at).split('\n').length
        return new Problem(code, `${file}: ${source} in line ${line} could be a number or a text`, {
          line,
          hint: `Write "${source}" for a text, or the number without zeros that add nothing.`,
        })
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
