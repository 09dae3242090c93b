// Parses and writes YAML files.
import { type ErrorCode, errorMessageOf, Problem } from '../../contract/errors.ts'

/** Hints for frequent mistakes, by the code of their error. */
const HINTS: Readonly<Record<string, string>> = {
  BLOCK_AS_IMPLICIT_KEY: 'A text with a colon is in quotes: title: "Sales: overview"',
  TAB_AS_INDENT: 'Indent with spaces.',
}

/** Parses the text of a YAML or JSON file. Throws a problem with this code, and the line at fault. */
export async function parseYaml(file: string, text: string, code: ErrorCode): Promise<unknown> {
  const { parseDocument } = await import('../../vendor/yaml.ts')
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
    throw new Problem(code, `${file}: ${first.replace(/:$/, '')}`, {
      line: error.linePos?.[0].line,
      hint: HINTS[error.code],
    })
  }
  try {
    const value = document.toJS({ maxAliasCount: 100 })
    // Throws for a value that contains itself.
    JSON.stringify(value)
    return value
  } catch (thrown) {
    if (thrown instanceof TypeError) throw new Problem(code, `${file}: a value contains itself`)
    if (thrown instanceof RangeError) throw new Problem(code, `${file}: is nested too deeply`)
    throw new Problem(code, `${file}: ${errorMessageOf(thrown)}`)
  }
}

/** Formats a value as YAML. */
export async function formatYaml(value: unknown): Promise<string> {
  const { stringify } = await import('../../vendor/yaml.ts')
  return stringify(value, { lineWidth: 100 })
}
