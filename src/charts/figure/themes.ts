// Built-in themes, and how a figure gets a theme.
import type { Attributes } from './figure.ts'
import { findSupportedLocale } from './locale.ts'

/** Theme of charts without another theme: see docs/guide.md#themes. */
export const DEFAULT_THEME = 'gridline'

const SERIF = "Georgia, 'DejaVu Serif', serif"

/** Built-in themes: plotly templates on top of the default theme, with dark variants in `dark`. */
const BUILT_IN_THEMES: Readonly<Record<string, { about: string; template: Attributes }>> = {
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

export function listBuiltInThemes(): Theme[] {
  return Object.entries(BUILT_IN_THEMES).map(([name, theme]) => ({ name, ...theme }))
}

export function findBuiltInTheme(name: string): Theme | undefined {
  return isBuiltInTheme(name) ? { name, ...BUILT_IN_THEMES[name] } : undefined
}

export function isBuiltInTheme(name: string): boolean {
  return Object.hasOwn(BUILT_IN_THEMES, name)
}

/**
 * Returns a figure with a theme. The default theme has an empty template. A theme can also set the language,
 * in `layout.meta.locale`.
 */
export function setTheme<T extends { layout: Attributes }>(figure: T, { name, template }: Theme): T {
  const { layout } = figure
  const locale = findSupportedLocale(layout.meta?.locale ?? template.layout?.meta?.locale)
  const meta = { ...layout.meta, theme: name, ...(locale !== undefined && { locale }) }
  return { ...figure, layout: { ...layout, meta, template } }
}
