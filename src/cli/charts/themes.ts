import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { closest, hintWith } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'
import type { Attributes } from './traces.ts'

/** The theme of charts that name none: see docs/guide.md#looks. */
export const DEFAULT_THEME = 'gridline'

/** Size of a theme file, in bytes. It is part of each chart that uses it. */
const MOST_BYTES = 128 * 1024

const SERIF = "Georgia, 'DejaVu Serif', serif"

/** Built-in themes: plotly templates over the default one, with what changes in the dark in `dark`. */
const builtIn: Readonly<Record<string, { about: string; template: Attributes }>> = {
  [DEFAULT_THEME]: { about: 'eight colors, without a frame; the default', template: {} },
  newsroom: {
    about: 'warm paper and a serif font',
    template: {
      layout: {
        paper_bgcolor: '#f8f4ea',
        plot_bgcolor: '#f8f4ea',
        font: { family: SERIF, color: '#2b2620' },
        colorway: ['#0b5c8a', '#c2410c', '#2e7d4f', '#8b2f6b', '#7a6a00', '#4b4ba8'],
        yaxis: { gridcolor: '#ded6c5' },
        hoverlabel: { font: { family: SERIF } },
      },
      dark: {
        layout: {
          paper_bgcolor: '#1d1a16',
          plot_bgcolor: '#1d1a16',
          font: { color: '#ece5d8' },
          colorway: ['#58a6d6', '#f08a4b', '#5fbf86', '#d37fb6', '#c4b24a', '#9c9cf0'],
          yaxis: { gridcolor: '#3b352d' },
        },
      },
    },
  },
  print: {
    about: 'black and greys, with dashes, for paper',
    template: {
      layout: {
        paper_bgcolor: '#ffffff',
        plot_bgcolor: '#ffffff',
        font: { color: '#000000' },
        colorway: ['#000000', '#767676', '#454545', '#8c8c8c'],
        yaxis: { gridcolor: '#d0d0d0' },
      },
      data: {
        scatter: [
          { line: { width: 2, dash: 'solid' } },
          { line: { width: 2, dash: 'solid' } },
          { line: { width: 2, dash: 'dash' } },
          { line: { width: 2, dash: 'dot' } },
        ],
        bar: [{}, {}, { marker: { pattern: { shape: '/' } } }, { marker: { pattern: { shape: '.' } } }],
      },
    },
  },
}

export interface Theme {
  name: string
  about: string
  template: Attributes
}

export function builtInThemes(): Theme[] {
  return Object.entries(builtIn).map(([name, theme]) => ({ name, ...theme }))
}

export function isBuiltIn(name: string): boolean {
  return Object.hasOwn(builtIn, name)
}

/** The theme of a name or of a file. Throws `usage`, `no_such_file` and `bad_data`. */
export function themeNamed(given: string): Theme {
  if (isBuiltIn(given)) return { name: given, ...builtIn[given] }
  if (!existsSync(given)) {
    const isFile = /[./\\]/.test(given)
    throw new Problem(
      isFile ? 'no_such_file' : 'usage',
      isFile ? `no such file: ${given}` : `no theme is named ${given}`,
      {
        hint: isFile
          ? 'A theme is the name of a built-in one, or a JSON file with a plotly template.'
          : hintWith(
              closest(given, Object.keys(builtIn)),
              `Themes: ${Object.keys(builtIn).join(', ')}; or a JSON file.`,
            ),
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
  if (size > MOST_BYTES) throw refuse(`it has ${size} bytes; the limit is ${MOST_BYTES}`)
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

/** A figure in a theme. */
export function dressed<T extends { layout: Attributes }>(figure: T, { name, template }: Theme): T {
  const { template: _, ...layout } = figure.layout
  const isDefault = Object.keys(template).length === 0
  const meta = { ...layout.meta, theme: name }
  return { ...figure, layout: { ...layout, meta, ...(!isDefault && { template }) } }
}
