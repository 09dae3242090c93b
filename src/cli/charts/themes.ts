import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, extname } from 'node:path'
import type { Attributes } from '../../charts/figure/figure.ts'
import { builtInTheme, builtInThemes, type Theme } from '../../charts/figure/themes.ts'
import { closest, hintWith } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'

/** Size of a theme file, in bytes. It is part of each chart that uses it. */
const MAX_BYTES = 128 * 1024

/** The theme of a name or of a file. Throws `usage`, `no_such_file` and `bad_data`. */
export function themeNamed(given: string): Theme {
  const known = builtInTheme(given)
  if (known) return known
  if (!existsSync(given)) {
    const isFile = /[./\\]/.test(given)
    throw new Problem(
      isFile ? 'no_such_file' : 'usage',
      isFile ? `no such file: ${given}` : `no theme is named ${given}`,
      {
        hint: isFile
          ? 'A theme is the name of a built-in one, or a JSON file with a plotly template.'
          : hintWith(closest(given, names()), `Themes: ${names().join(', ')}; or a JSON file.`),
      },
    )
  }
  const name = basename(given, extname(given))
  return { name, about: given, template: readTemplate(given) }
}

/** The template of a file: that of a figure, or the file itself. */
function readTemplate(file: string): Attributes {
  const refuse = (why: string): Problem =>
    new Problem('bad_data', `${file} is not a theme: ${why}`, {
      hint: 'A theme is a plotly template in JSON: {"layout": {…}, "data": {…}}. See gridline theme show newsroom.',
    })
  const { size } = statSync(file)
  if (size > MAX_BYTES) throw refuse(`it has ${size} bytes; the limit is ${MAX_BYTES}`)
  let parsed: unknown
  try {
    parsed = JSON.parse(readFileSync(file, 'utf8').replace(/^\ufeff/, ''))
  } catch (error) {
    throw refuse((error as Error).message)
  }
  if (!isObject(parsed)) throw refuse('it is not an object')
  const template = isObject(parsed.layout?.template) ? parsed.layout.template : parsed
  const other = Object.keys(template).find((key) => !['layout', 'data', 'dark'].includes(key))
  if (other !== undefined) throw refuse(`it has a member ${other}; a template has layout, data and dark`)
  if (Object.keys(template).length === 0) throw refuse('it is empty')
  if (!Object.values(template).every(isObject)) throw refuse('layout, data and dark are objects')
  return template
}

function isObject(value: unknown): value is Attributes {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function names(): string[] {
  return builtInThemes().map(({ name }) => name)
}
