// Checks themes: attributes, contrast and images.
import type { Attributes } from '../../charts/figure/figure.ts'
import { Problem } from '../../contract/errors.ts'
import { assertValidValue, findAttributeSchema, listAttributes } from './attributes.ts'

/**
 * Returns the number of attributes of a template. Throws `bad_data` for attributes or values that plotly.js
 * would ignore.
 */
export async function countTemplateAttributes(template: Attributes, source: string): Promise<number> {
  const { plotSchema } = await import('../../vendor/schema.ts')
  try {
    return countAttributes(template, plotSchema)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'usage') throw error
    throw new Problem('bad_data', `${source}: ${error.message}`, { hint: error.hint })
  }
}

type Schema = typeof import('../../vendor/schema.ts').plotSchema

/** Checks and counts the attributes of a template, including those for dark pages. */
function countAttributes(
  { layout = {}, data = {}, dark }: Attributes,
  schema: Schema,
  isDark = false,
): number {
  for (const [name, value] of Object.entries({ layout, data, ...(dark !== undefined && { dark }) }))
    assertObject(name, value)
  if (isDark && dark !== undefined) throw new Problem('usage', 'dark: a nested member "dark" is not allowed')
  let total = 0
  for (const [path, value] of listAttributes(layout, [])) {
    assertValidValue(
      ['layout', ...path].join('.'),
      value,
      findAttributeSchema(['layout', ...path], {}, schema),
    )
    total++
  }
  for (const [type, traces] of Object.entries(data)) {
    if (!Array.isArray(traces)) throw new Problem('usage', `data.${type}: expected a list of traces`)
    for (const trace of traces) {
      assertObject(`data.${type}`, trace)
      for (const [path, value] of listAttributes(trace, [])) {
        const figure = { data: [{ type }] }
        if (!Object.hasOwn(schema.traces, type))
          throw new Problem('usage', `data.${type}: unknown trace type`)
        assertValidValue(
          [`data.${type}`, ...path].join('.'),
          value,
          findAttributeSchema(['data', '0', ...path], figure, schema),
        )
        total++
      }
    }
  }
  return total + (dark === undefined ? 0 : countAttributes(dark, schema, true))
}

/** Throws `usage` unless a value is an object. */
function assertObject(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Problem('usage', `${name}: expected an object`)
}

/** Minimum contrast with the background, as in WCAG 2: of lines, and of texts. */
const MIN_SERIES_CONTRAST = 3
const MIN_TEXT_CONTRAST = 4.5

/** Returns warnings about colors with little contrast. */
export function listContrastWarnings(
  { layout = {}, dark }: Attributes,
  pageBackground = '#ffffff',
): string[] {
  const background: unknown = layout.plot_bgcolor ?? layout.paper_bgcolor ?? pageBackground
  const warnings: string[] = []
  const checkContrast = (noun: string, color: unknown, minContrast: number): void => {
    const ratio = contrastRatio(color, background)
    if (ratio !== undefined && ratio < minContrast)
      warnings.push(
        `${noun} ${String(color)} has a contrast of ${ratio.toFixed(1)} with ${String(background)}; use at least ${minContrast}`,
      )
  }
  for (const color of Array.isArray(layout.colorway) ? layout.colorway : [])
    checkContrast('color', color, MIN_SERIES_CONTRAST)
  checkContrast('text', layout.font?.color, MIN_TEXT_CONTRAST)
  return dark === undefined ? warnings : [...warnings, ...listContrastWarnings(dark, '#16181d')]
}

/** Returns warnings about images outside of the template: drawing a chart contacts no other hosts. */
export function listForeignImageWarnings({ layout = {}, dark }: Attributes): string[] {
  const images: Attributes[] = Array.isArray(layout.images) ? layout.images : []
  const foreign = images.filter(({ source }) => typeof source === 'string' && !source.startsWith('data:'))
  const warnings = foreign.map(
    ({ source }) => `the image ${String(source).slice(0, 100)} is not drawn; embed it as a data: URL`,
  )
  return dark === undefined ? warnings : [...warnings, ...listForeignImageWarnings(dark)]
}

/** Returns the contrast of two colors (`#rrggbb`, white, black); undefined for others. */
function contrastRatio(a: unknown, b: unknown): number | undefined {
  const [first, second] = [a, b].map(luminance)
  if (first === undefined || second === undefined) return undefined
  return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05)
}

/** Returns the relative luminance of a color, as in WCAG 2; undefined if not `#rrggbb`, white or black. */
function luminance(color: unknown): number | undefined {
  const named = { white: '#ffffff', black: '#000000' }[String(color).toLowerCase()]
  const [, hex] = /^#([0-9a-f]{6})$/i.exec(named ?? String(color)) ?? []
  if (hex === undefined) return undefined
  const [r, g, b] = [0, 2, 4].map((at) => {
    const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
