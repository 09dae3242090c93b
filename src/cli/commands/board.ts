// `gridline board`: creates boards of charts, tables, numbers and text, and gets their files.
import { basename } from 'node:path'
import { lookupOrUndefined, resolveFid } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { gridNameOf } from '../../contract/formats.ts'
import type { Board, DashboardMeta, GridMeta } from '../../contract/resources/index.ts'
import { quoteShellWord } from '../../contract/shell.ts'
import { formatProposal, writeNewFiles } from '../charts/board-files.ts'
import type { ProposedBoard } from '../charts/propose-board.ts'
import { type CommandEntry, defineCommand, type Option, subcommand } from '../core/define.ts'
import { arrayOf, objectOf, otherOutput } from '../core/output-schema.ts'
import { describePrivateItems, type FindFile, resolveBoard } from '../files/board-file.ts'
import { inFile, readDefinition } from '../files/definitions.ts'
import { inputName } from '../files/input.ts'
import { isLocalDataFile, openGridOrFile } from '../files/local-data.ts'
import { findReadingFlag, localOptions } from '../files/parse-options.ts'
import { writeNamedFile } from '../files/write-file.ts'
import type { TableView } from '../output/view.ts'

const view: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'action', title: 'ACTION' },
    { field: 'web_url', title: 'LINK' },
  ],
}

const createOptions = [
  { flags: '--name <name>', description: 'name of the board (default: its title, or the name of the file)' },
  { flags: '--folder <path>', description: 'destination folder; missing folders are created' },
  { flags: '--public', description: 'make the board public' },
  {
    flags: '--on-conflict <rule>',
    description: 'if the name is taken: fail (default), or replace the content of that board',
    choices: ['fail', 'replace'],
  },
] as const satisfies readonly Option[]

const create = defineCommand({
  output: objectOf('Board', { action: 'created or replaced' }),
  writes: true,
  arguments: '<file>',
  options: createOptions,
  completion: ['local'],
  examples: [
    'gridline board create report.yml --on-conflict replace',
    'gridline board create report.yml --name "Sales 2024" --folder Reports --public',
  ],
  async run(context, [file], { name, folder, public: isPublic, onConflict }) {
    const client = await context.client()
    const definition = await readDefinition(file, 'board')
    const find: FindFile = (word, filetype) => resolveFid(client, word, filetype)
    const board = await resolveBoard(file, definition, find)
    const filename = name ?? definition.name
    const path = [...(folder === undefined ? [] : [folder.replace(/\/+$/, '')]), filename].join('/')
    const content = { version: 2, layout: null, settings: { board } }
    const existing = onConflict === 'replace' ? await lookupOrUndefined(client, path) : undefined
    if (existing && existing.filetype !== 'dashboard')
      throw new Problem('already_exists', `${path} is not a board`, { hint: 'Choose another --name.' })
    const make = async (): Promise<DashboardMeta> => {
      if (existing) {
        const json = { content, ...(isPublic && { world_readable: true }) }
        return client.call('dashboards.update', { fid: existing.fid, json })
      }
      const json = { content, filename, parent_path: folder, world_readable: isPublic }
      return (await client.call('dashboards.create', { json })).file
    }
    const made = await make().catch((error) => {
      throw error instanceof Problem && error.status === 400 ? inFile(error, file) : error
    })
    const hidden = made.world_readable ? describePrivateItems(context, made) : undefined
    if (hidden !== undefined) context.messages.warning(hidden, filename)
    return { item: { ...made, action: existing ? 'replaced' : 'created' }, view, isDetail: true }
  },
})

const pull = defineCommand({
  output: otherOutput('the file that the board was made from, or its content as JSON'),
  arguments: '<board>',
  options: [{ flags: '-o, --output <file>', description: 'write to this file (- for stdout)' }],
  completion: [undefined],
  examples: ['gridline board pull report', 'gridline board pull report -o report.yml'],
  async run(context, [name], { output }) {
    const client = await context.clientFor(name)
    const fid = await resolveFid(client, name)
    const { content } = await client.call('dashboards.get', { fid })
    const { settings } = JSON.parse(content) as { settings?: { board?: Board } }
    const text = settings?.board?.source ?? `${JSON.stringify(JSON.parse(content), undefined, 2)}\n`
    if (output === undefined || output === '-') return { text }
    await writeNamedFile(output, text)
    return { text: '' }
  },
})

const proposalView: TableView = {
  id: 'file',
  columns: [
    { field: 'file', title: 'FILE' },
    { field: 'shows', title: 'SHOWS' },
    { field: 'why', title: 'WHY' },
  ],
}

/** Leaves out charts that would be refused, such as those of ambiguous dates. */
async function withoutRefused(
  { filename, cols }: Pick<GridMeta, 'filename' | 'cols'>,
  { charts, rows, ...proposal }: ProposedBoard,
): Promise<ProposedBoard> {
  const { assertChart } = await import('../charts/charts.ts')
  const fitting: ProposedBoard['charts'] = []
  for (const one of charts) {
    const { type, options } = one.chart
    const isFit = await assertChart(filename, cols.map(toTableColumn), type, options).then(
      () => true,
      () => false,
    )
    if (isFit) fitting.push(one)
  }
  const names = new Set(fitting.map(({ name }) => name))
  const shown = rows.filter(({ chart }) => chart === undefined || names.has(chart))
  return { ...proposal, charts: fitting, rows: shown }
}

/** Returns a column of a grid as one of a file that was read. */
function toTableColumn({ date_order: dateOrder, ...column }: GridMeta['cols'][number]) {
  return { ...column, dateOrder }
}

const auto = defineCommand({
  output: arrayOf([], {
    file: 'file of the directory that has this part',
    shows: 'what the part shows',
    why: 'why it is proposed',
  }),
  arguments: '<grid>',
  usage: '<grid|file>',
  completion: [['grid', 'local']],
  options: [
    {
      flags: '-o, --output <directory>',
      description: 'write the files of the board and its charts, and the data file, into this directory',
    },
    ...localOptions,
  ],
  examples: [
    'gridline board auto sales.csv                    # what it proposes, and why',
    'gridline board auto sales.csv -o sales           # then: gridline upload sales',
    'gridline board auto Reports/sales -o sales',
  ],
  async run(context, [word], { output, ...reading }) {
    const { proposeBoard } = await import('../charts/propose-board.ts')
    const isLocal = await isLocalDataFile(word)
    const flag = word === '-' ? 'standard input' : findReadingFlag(reading)
    if (output !== undefined && isLocal && flag !== undefined)
      throw new Problem('usage', `-o cannot be used with ${flag}: the file is copied as it is`, {
        hint: 'Upload it, and use its grid: gridline board auto GRID -o DIRECTORY',
      })
    if (output !== undefined && /\.ya?ml$/i.test(output))
      throw new Problem('usage', `-o ${output}: must be a directory, since charts have files of their own`, {
        hint: `gridline board auto ${quoteShellWord(word)} -o ${quoteShellWord(output.replace(/\.ya?ml$/i, ''))}`,
      })
    const { client, fid } = await openGridOrFile(context, word, reading)
    const grid = await client.call('grids.get', { fid })
    const description = await client.call('grids.describe', { fid })
    const name = isLocal ? gridNameOf(inputName(word)) : fid
    const proposal = await withoutRefused(grid, proposeBoard(name, grid.cols, description))
    const files = await formatProposal(proposal)
    const command = quoteShellWord(output ?? 'DIRECTORY')
    if (output === undefined)
      context.messages.note(`to write its files: gridline board auto ${quoteShellWord(word)} -o ${command}`)
    else {
      if (isLocal && word !== '-') files.push({ file: basename(word), copyOf: word })
      await writeNewFiles(output, files)
      context.messages.note(`to make the board: gridline upload ${command}`)
    }
    const items = [
      ...proposal.rows.map(({ shows, why }) => ({ file: 'board.yml', shows, why })),
      ...proposal.filters.map(({ column, why }) => ({
        file: 'board.yml',
        shows: `filter by ${column}`,
        why,
      })),
    ]
    return { items, view: proposalView }
  },
})

export const commands: readonly CommandEntry[] = [
  subcommand('auto', 'Propose a board for a grid or a data file, and say why', auto),
  subcommand('create', 'Create a board from a YAML file, or replace one', create),
  subcommand('pull', 'Print the file that a board was made from', pull),
]
