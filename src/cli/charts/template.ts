import type { Attributes } from '../../charts/figure/figure.ts'
import { Problem } from '../../contract/errors.ts'
import { assertFits, attributeOf, leavesIn } from './attributes.ts'

/**
 * How many attributes a template sets. Throws `bad_data` for one that plotly.js does not know, or for a value that it
 * would ignore.
 */
export async function checkTemplate(template: Attributes, source: string): Promise<number> {
  const { plotSchema } = await import('../../vendor/schema.ts')
  try {
    return count(template, plotSchema)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'usage') throw error
    throw new Problem('bad_data', `${source}: ${error.message}`, { hint: error.hint })
  }
}

type Schema = typeof import('../../vendor/schema.ts').plotSchema

function count({ layout = {}, data = {}, dark }: Attributes, schema: Schema, isDark = false): number {
  for (const [name, value] of Object.entries({ layout, data, ...(dark !== undefined && { dark }) }))
    assertObject(name, value)
  if (isDark && dark !== undefined) throw new Problem('usage', 'dark: it cannot have a member dark')
  let total = 0
  for (const [path, value] of leavesIn(layout, [])) {
    assertFits(['layout', ...path].join('.'), value, attributeOf(['layout', ...path], {}, schema))
    total++
  }
  for (const [type, traces] of Object.entries(data)) {
    if (!Array.isArray(traces)) throw new Problem('usage', `data.${type}: expected a list of traces`)
    for (const trace of traces) {
      assertObject(`data.${type}`, trace)
      for (const [path, value] of leavesIn(trace, [])) {
        const figure = { data: [{ type }] }
        if (!Object.hasOwn(schema.traces, type))
          throw new Problem('usage', `data.${type}: plotly.js has no traces of this type`)
        assertFits(
          [`data.${type}`, ...path].join('.'),
          value,
          attributeOf(['data', '0', ...path], figure, schema),
        )
        total++
      }
    }
  }
  return total + (dark === undefined ? 0 : count(dark, schema, true))
}

function assertObject(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Problem('usage', `${name}: expected an object`)
}

/** Contrast that lines and texts need with their ground, as in WCAG 2. */
const MIN_OF_SERIES = 3
const MIN_OF_TEXT = 4.5

/** What of a template cannot be seen well: colors that are too near to the ground. */
export function contrasts({ layout = {}, dark }: Attributes, ground = '#ffffff'): string[] {
  const back: unknown = layout.plot_bgcolor ?? layout.paper_bgcolor ?? ground
  const warnings: string[] = []
  const look = (what: string, color: unknown, least: number): void => {
    const found = contrast(color, back)
    if (found !== undefined && found < least)
      warnings.push(
        `${what} ${String(color)} has a contrast of ${found.toFixed(1)} with ${String(back)}; ${least} can be seen well`,
      )
  }
  for (const color of Array.isArray(layout.colorway) ? layout.colorway : [])
    look('color', color, MIN_OF_SERIES)
  look('text', layout.font?.color, MIN_OF_TEXT)
  return dark === undefined ? warnings : [...warnings, ...contrasts(dark, '#16181d')]
}

/** Images of a template that are not in it: charts are drawn without asking other hosts. */
export function foreignImages({ layout = {}, dark }: Attributes): string[] {
  const images: Attributes[] = Array.isArray(layout.images) ? layout.images : []
  const foreign = images.filter(({ source }) => typeof source === 'string' && !source.startsWith('data:'))
  const warnings = foreign.map(
    ({ source }) => `the image ${String(source).slice(0, 100)} is not drawn: give it as a data: URL`,
  )
  return dark === undefined ? warnings : [...warnings, ...foreignImages(dark)]
}

/** Contrast of two colors written as `#rrggbb`; undefined for others. */
function contrast(a: unknown, b: unknown): number | undefined {
  const [one, other] = [a, b].map(luminance)
  if (one === undefined || other === undefined) return undefined
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
}

function luminance(color: unknown): number | undefined {
  const named = { white: '#ffffff', black: '#000000' }[String(color).toLowerCase()]
  const [, hex] = /^#([0-9a-f]{6})$/i.exec(named ?? String(color)) ?? []
  if (hex === undefined) return undefined
  const [r, g, b] = [0, 2, 4].map((at) => {
    const share = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
