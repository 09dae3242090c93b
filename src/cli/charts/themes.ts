// Loads themes.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { type Attributes, isObject } from '../../charts/figure/figure.ts'
import { findBuiltInTheme, listBuiltInThemes, type Theme } from '../../charts/figure/themes.ts'
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import { findClosest, withSuggestion } from '../../contract/message-texts.ts'

/** Maximum size of a theme file, in bytes: it becomes part of each chart. */
const MAX_THEME_BYTES = 128 * 1024

/** Returns the theme with a name, or of a file. Throws `usage`, `no_such_file` and `bad_data`. */
export function loadTheme(nameOrFile: string): Theme {
  const builtIn = findBuiltInTheme(nameOrFile)
  if (builtIn) return builtIn
  if (!existsSync(nameOrFile)) {
    const isFile = /[./\\]/.test(nameOrFile)
    throw new Problem(
      isFile ? 'no_such_file' : 'usage',
      isFile ? `no such file: ${nameOrFile}` : `no theme named ${nameOrFile}`,
      {
        hint: isFile
          ? 'Use the name of a built-in theme, or a JSON file with a plotly template.'
          : withSuggestion(
              findClosest(nameOrFile, listThemeNames()),
              `Themes: ${listThemeNames().join(', ')}; or a JSON file.`,
            ),
      },
    )
  }
  const name = basename(nameOrFile, extname(nameOrFile))
  return { name, about: nameOrFile, template: readTemplate(nameOrFile) }
}

/** Reads a template: from a figure, or the file itself. */
function readTemplate(file: string): Attributes {
  const refuse = (reason: string): Problem =>
    new Problem('bad_data', `${file} is not a theme: ${reason}`, {
      hint: 'Use a plotly template in JSON: {"layout": {…}, "data": {…}}. See: gridline theme show newsroom',
    })
  const { size } = statSync(file)
  if (size > MAX_THEME_BYTES) throw refuse(`expected up to ${MAX_THEME_BYTES} bytes, found ${size}`)
  let parsed: unknown
  try {
    parsed = JSON.parse(readFileSync(file, 'utf8').replace(/^\ufeff/, ''))
  } catch (error) {
    throw refuse(errorMessageOf(error))
  }
  if (!isObject(parsed)) throw refuse('expected an object')
  const template = isObject(parsed.layout?.template) ? parsed.layout.template : parsed
  const unknownMember = Object.keys(template).find((key) => !['layout', 'data', 'dark'].includes(key))
  if (unknownMember !== undefined)
    throw refuse(`unknown member ${unknownMember}; expected layout, data and dark`)
  if (Object.keys(template).length === 0) throw refuse('it is empty')
  if (!Object.values(template).every(isObject)) throw refuse('expected objects as layout, data and dark')
  return template
}

function listThemeNames(): string[] {
  return listBuiltInThemes().map(({ name }) => name)
}
