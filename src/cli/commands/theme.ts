// `gridline theme`: lists, shows and checks themes.
import { hasGround } from '../../charts/figure/ground.ts'
import { builtInThemes } from '../../charts/figure/themes.ts'
import { checkTemplate, contrasts, foreignImages } from '../charts/template.ts'
import { themeNamed } from '../charts/themes.ts'
import { type CommandEntry, defineCommand, subcommand } from '../core/define.ts'
import { array, object, other } from '../core/prints.ts'

const view = {
  id: 'name',
  columns: [
    { field: 'name', title: 'NAME' },
    { field: 'about', title: 'ABOUT' },
  ],
}

const list = defineCommand({
  prints: array([], { name: 'name of the theme', about: 'short description' }),
  examples: ['gridline theme list', 'gridline theme list -q'],
  run: async () => ({ many: builtInThemes().map(({ name, about }) => ({ name, about })), view }),
})

const show = defineCommand({
  prints: other('the template of the theme'),
  arguments: '<theme>',
  completes: [{ words: builtInThemes().map(({ name }) => name) }],
  examples: ['gridline theme show newsroom > my-theme.json', 'gridline theme show my-theme.json'],
  run: async (_, [theme]) => ({ text: `${JSON.stringify(themeNamed(theme).template, null, 2)}\n` }),
})

const check = defineCommand({
  prints: object([], {
    name: 'name of the theme',
    attributes: 'number of attributes',
    warnings: 'warnings about color contrast and images, as an array of texts',
  }),
  arguments: '<theme>',
  completes: ['local'],
  examples: ['gridline theme check my-theme.json', 'gridline theme check newsroom --json warnings'],
  async run(context, [theme]) {
    const { name, template } = themeNamed(theme)
    const attributes = await checkTemplate(template, theme)
    const warnings = [...contrasts(template), ...foreignImages(template)]
    for (const warning of warnings) context.messages.warning(warning, theme)
    if (hasGround(template) && template.dark === undefined)
      context.messages.note('The theme has no "dark" member, so its charts stay light on dark pages.')
    return {
      one: { name, attributes, warnings },
      view: {
        id: 'name',
        columns: [
          { field: 'name', title: 'NAME' },
          { field: 'attributes', title: 'ATTRIBUTES', align: 'right' },
        ],
      },
    }
  },
})

export const commands: readonly CommandEntry[] = [
  subcommand('list', 'List the built-in themes', list),
  subcommand('show', 'Print the template of a theme', show),
  subcommand('check', 'Check attributes and color contrast of a theme', check),
]
