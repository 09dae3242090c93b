/** Applies the default theme of the server to new figures. */
import { DEFAULT_THEME, type Theme } from '../../charts/figure/themes.ts'
import { RawJson } from '../../json/index.ts'

/** Applies the default theme to a figure with Gridline's theme and no template. Returns others unchanged. */
export function applyDefaultTheme(figure: RawJson, defaultTheme: Theme | undefined): RawJson {
  if (!defaultTheme) return figure
  const layout = readObject(figure, 'layout')
  const meta = layout && readObject(layout, 'meta')
  const theme = meta?.get('theme')
  if (!layout || theme?.kind !== 'string' || theme.toValue() !== DEFAULT_THEME) return figure
  if (layout.get('template') !== undefined) return figure
  const { buf, start, end, limits } = figure
  // The layout has `meta`, so the template follows a comma.
  const text = Buffer.concat([
    buf.subarray(start, theme.start),
    Buffer.from(JSON.stringify(defaultTheme.name)),
    buf.subarray(theme.end, layout.end - 1),
    Buffer.from(`,"template":${JSON.stringify(defaultTheme.template)}}`),
    buf.subarray(layout.end, end),
  ])
  // No check: valid JSON was inserted into a checked figure.
  return new RawJson(text, 0, text.length, limits)
}

function readObject(parent: RawJson, name: string): RawJson | undefined {
  const value = parent.get(name)
  return value?.kind === 'object' ? value : undefined
}
