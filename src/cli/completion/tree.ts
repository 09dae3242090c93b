import { type Command, type CommandEntry, type Completed, type Option, optionsOf } from '../define.ts'

/** A command, as needed for completion. */
export interface Node {
  name: string
  summary: string
  options: CompletedOption[]
  children: Node[]
  /** Whether arguments can be local files. */
  files: boolean
  /** What completes each argument, and all later ones. */
  completes: readonly (Completed | undefined)[]
}

export interface CompletedOption {
  /** `--format`, `-f`. */
  names: string[]
  description: string
  choices: readonly string[]
  takesValue: boolean
  completes: Completed | undefined
}

/** The table of commands with all of them loaded. */
export async function commandTree(commands: readonly CommandEntry[]): Promise<Node[]> {
  return Promise.all(commands.filter(({ hidden }) => !hidden).map(nodeOf))
}

/** A command with its subcommands. */
export async function nodeOf(entry: CommandEntry): Promise<Node> {
  const loaded = await entry.load()
  const { name, summary } = entry
  if ('commands' in loaded) {
    return {
      name,
      summary,
      options: [],
      children: await Promise.all(loaded.commands.map(nodeOf)),
      files: false,
      completes: [],
    }
  }
  const { command } = loaded
  const options = optionsOf(command).map(optionOf)
  return {
    name,
    summary,
    options,
    children: [],
    files: command.localFiles === true,
    completes: command.completes ?? (command.localFiles ? [] : argumentsOf(command)),
  }
}

/** By the names of arguments: `<grid>`, `<file...>`, `<team> <user...>`. */
function argumentsOf({ arguments: given = '' }: Command): (Completed | undefined)[] {
  const kinds: Record<string, Completed> = {
    file: 'file',
    source: 'file',
    grid: 'grid',
    plot: 'plot',
    folder: 'folder',
    column: 'column',
    team: 'team',
    user: 'user',
    extra: 'file',
  }
  return [...given.matchAll(/[<[](\w+)/g)].map(([, name]) => kinds[name])
}

/** By the names of options: `--folder`, `--columns`. */
function completedBy({ flags, completes }: Option): Completed | undefined {
  if (completes) return completes
  const [, name = ''] = /--([a-z-]+)/.exec(flags) ?? []
  const kinds: Record<string, Completed> = {
    folder: 'folder',
    columns: 'column',
    x: 'column',
    y: 'column',
    color: 'column',
    size: 'column',
    text: 'column',
    team: 'team',
    grid: 'grid',
    user: 'user',
  }
  return kinds[name]
}

function optionOf(option: Option): CompletedOption {
  const { flags, description, choices } = option
  return {
    completes: completedBy(option),
    names: flags.match(/--?[a-z][a-z-]*/gi) ?? [],
    description,
    choices: choices ?? [],
    takesValue: /[<[]/.test(flags),
  }
}
