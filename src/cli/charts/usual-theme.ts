import type { Figure } from '../../charts/figure.ts'
import type { ChartOptions } from '../../charts/options.ts'
import { dressed } from '../../charts/themes.ts'
import type { Context } from '../core/context.ts'
import { themeNamed } from './themes.ts'

/** A new chart in the theme of the settings, unless its options name one. */
export async function inUsualTheme(
  context: Context,
  figure: Figure,
  { theme }: Pick<ChartOptions, 'theme'>,
): Promise<Figure> {
  const usual = theme === undefined ? (await context.settings()).theme.value : undefined
  return usual === undefined ? figure : dressed(figure, themeNamed(usual))
}
