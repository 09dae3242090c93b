// Applies the default theme and language.
import type { Figure } from '../../charts/figure/figure.ts'
import { setTheme } from '../../charts/figure/themes.ts'
import type { ChartOptions } from '../../charts/spec/options.ts'
import type { Context } from '../core/context.ts'
import { loadTheme } from './themes.ts'

/** Applies the theme and language of the settings to a new chart, unless its options set others. */
export async function applyDefaultTheme(
  context: Context,
  figure: Figure,
  { theme }: Pick<ChartOptions, 'theme'>,
): Promise<Figure> {
  const settings = await context.settings()
  const defaultTheme = theme === undefined ? settings.theme.value : undefined
  const themedFigure = defaultTheme === undefined ? figure : setTheme(figure, loadTheme(defaultTheme))
  const { meta } = themedFigure.layout
  const locale = settings.locale.value
  if (locale === undefined || meta?.locale !== undefined || meta?.theme === undefined) return themedFigure
  return { ...themedFigure, layout: { ...themedFigure.layout, meta: { ...meta, locale } } }
}
