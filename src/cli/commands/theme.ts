// `gridline theme`: lists, shows and checks themes.
import { hasBackground } from '../../charts/figure/background.ts'
import { listBuiltInThemes } from '../../charts/figure/themes.ts'
import {
  countTemplateAttributes,
  listContrastWarnings,
  listForeignImageWarnings,
} from '../charts/template.ts'
import { loadTheme } from '../charts/themes.ts'
import { type CommandEntry, defineCommand, subcommand } from '../core/define.ts'
import { arrayOf, objectOf, otherOutput } from '../core/output-schema.ts'

const view = {
  id: 'name',
  columns: [
    { field: 'name', title: 'NAME' },
    { field: 'about', title: 'ABOUT' },
  ],
}

const list = defineCommand({
  output: arrayOf([], { name: 'name of the theme', about: 'short description' }),
  examples: ['gridline theme list', 'gridline theme list -q'],
  run: async () => ({ items: listBuiltInThemes().map(({ name, about }) => ({ name, about })), view }),
})

const show = defineCommand({
  output: otherOutput('the template of the theme'),
  arguments: '<theme>',
  completion: [{ words: listBuiltInThemes().map(({ name }) => name) }],
  examples: ['gridline theme show newsroom > my-theme.json', 'gridline theme show my-theme.json'],
  run: async (_, [theme]) => ({ text: `${JSON.stringify(loadTheme(theme).template, null, 2)}\n` }),
})

const check = defineCommand({
  output: objectOf([], {
    name: 'name of the theme',
    attributes: 'number of attributes',
    warnings: 'warnings about color contrast and images, as an array of texts',
  }),
  arguments: '<theme>',
  completion: ['local'],
  examples: ['gridline theme check my-theme.json', 'gridline theme check newsroom --json warnings'],
  async run(context, [theme]) {
    const { name, template } = loadTheme(theme)
    const attributes = await countTemplateAttributes(template, theme)
    const warnings = [...listContrastWarnings(template), ...listForeignImageWarnings(template)]
    for (const warning of warnings) context.messages.warning(warning, theme)
    if (hasBackground(template) && template.dark === undefined)
      context.messages.note('The theme has no "dark" member, so its charts stay light on dark pages.')
    return {
      item: { name, attributes, warnings },
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
