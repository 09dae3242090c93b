import type { Figure } from '../../charts/figure/figure.ts'
import { dressed } from '../../charts/figure/themes.ts'
import type { ChartOptions } from '../../charts/spec/options.ts'
import type { Context } from '../core/context.ts'
import { themeNamed } from './themes.ts'

/** A new chart in the theme and the language of the settings, unless its options name others. */
export async function inUsualTheme(
  context: Context,
  figure: Figure,
  { theme }: Pick<ChartOptions, 'theme'>,
): Promise<Figure> {
  const settings = await context.settings()
  const usual = theme === undefined ? settings.theme.value : undefined
  const shown = usual === undefined ? figure : dressed(figure, themeNamed(usual))
  const { meta } = shown.layout
  const locale = settings.locale.value
  if (locale === undefined || meta?.locale !== undefined || meta?.theme === undefined) return shown
  return { ...shown, layout: { ...shown.layout, meta: { ...meta, locale } } }
}
