import { DEFAULT_THEME, type Theme } from '../../charts/figure/themes.ts'
import { RawJson } from '../../json/index.ts'

/**
 * A new figure in the theme of the server: one that asks for our look and that nobody has chosen a theme for. Others are
 * unchanged, and all bytes but those of the theme stay as they are.
 */
export function inUsualTheme(figure: RawJson, usual: Theme | undefined): RawJson {
  if (!usual) return figure
  const layout = member(figure, 'layout')
  const meta = layout && member(layout, 'meta')
  const theme = meta?.get('theme')
  if (!layout || theme?.kind !== 'string' || theme.value() !== DEFAULT_THEME) return figure
  if (layout.get('template') !== undefined) return figure
  const { buf, start, end, limits } = figure
  // A layout with `meta` is not empty.
  const text = Buffer.concat([
    buf.subarray(start, theme.start),
    Buffer.from(JSON.stringify(usual.name)),
    buf.subarray(theme.end, layout.end - 1),
    Buffer.from(`,"template":${JSON.stringify(usual.template)}}`),
    buf.subarray(layout.end, end),
  ])
  // What was checked, with JSON of our own.
  return new RawJson(text, 0, text.length, limits)
}

function member(of: RawJson, name: string): RawJson | undefined {
  const found = of.get(name)
  return found?.kind === 'object' ? found : undefined
}
