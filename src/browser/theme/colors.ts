// Color scales and background colors of the theme.
import { COLORS, DARK_COLORS } from '../../charts/figure/colors.ts'
import type { Draft } from './arrangement.ts'
/** Viridis, from dark to light: equal steps of values look like equal steps. */
export const SEQUENTIAL_COLORS =
  '#440154 #482878 #3e4989 #31688e #26828e #1f9e89 #35b779 #6ece58 #b5de2b #fde725'.split(' ')
/** Blue to orange through grey, for values on both sides of zero. Both halves are equally dark. */
export const DIVERGING_COLORS =
  '#1c4f9c #4f7fc4 #8fb0de #c6d5ea #ececec #f3d3bd #e4a373 #c9702f #94460c'.split(' ')

/** Background, text and line colors by scheme. */
export const SCHEME_COLORS = {
  light: { ground: '#ffffff', text: '#22262b', soft: '#59636e', line: '#dfe3e8' },
  dark: { ground: '#16181d', text: '#e3e6ea', soft: '#9aa4af', line: '#343a42' },
} as const

export type Scheme = keyof typeof SCHEME_COLORS

/** Returns colors as a plotly.js color scale, with positions from 0 to 1. */
export function createColorScale(colors: readonly string[]): [number, string][] {
  return colors.map((color, k) => [k / (colors.length - 1), color])
}

/** Interpolates between colors; `place` is from 0 to 1. Returns #rrggbb. */
export function interpolateColor(colors: readonly string[], place: number): string {
  const at = Math.min(colors.length - 1.000001, Math.max(0, place * (colors.length - 1)))
  const [from, to] = [colors[Math.floor(at)], colors[Math.floor(at) + 1]]
  const parts = [1, 3, 5].map((start) => {
    const [a, b] = [from, to].map((color) => Number.parseInt(color.slice(start, start + 2), 16))
    return Math.round(a + (b - a) * (at % 1))
      .toString(16)
      .padStart(2, '0')
  })
  return `#${parts.join('')}`
}

/** Returns the colors of series, in order. */
export function colorwayOf({ layout, view }: Draft): readonly string[] {
  return (
    layout.template?.[view.scheme]?.layout?.colorway ??
    layout.template?.layout?.colorway ??
    layout.colorway ??
    (view.scheme === 'dark' ? DARK_COLORS : COLORS)
  )
}
