// Parses and writes YAML files.
import { type ErrorCode, errorMessageOf, Problem } from '../../contract/errors.ts'

/** Parses the text of a YAML or JSON file. Throws a problem with this code, and the line at fault. */
export async function parseYaml(file: string, text: string, code: ErrorCode): Promise<unknown> {
  const { parseDocument } = await import('../../vendor/yaml.ts')
  // JSON is valid YAML.
  const document = parseDocument(text, { prettyErrors: true })
  const [error] = document.errors
  if (error) {
    const [first] = error.message.split('\n')
    throw new Problem(code, `${file}: ${first.replace(/:$/, '')}`, { line: error.linePos?.[0].line })
  }
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (thrown) {
    throw new Problem(code, `${file}: ${errorMessageOf(thrown)}`)
  }
}

/** Formats a value as YAML. */
export async function formatYaml(value: unknown): Promise<string> {
  const { stringify } = await import('../../vendor/yaml.ts')
  return stringify(value, { lineWidth: 100 })
}
