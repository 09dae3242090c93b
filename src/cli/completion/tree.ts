import { type CommandEntry, type Option, optionsOf } from '../define.ts'

/** A command, as needed for completion. */
export interface Node {
  name: string
  summary: string
  options: CompletedOption[]
  children: Node[]
  /** Whether arguments can be local files. */
  files: boolean
}

export interface CompletedOption {
  /** `--format`, `-f`. */
  names: string[]
  description: string
  choices: readonly string[]
  takesValue: boolean
}

/** The table of commands with all of them loaded. */
export async function commandTree(commands: readonly CommandEntry[]): Promise<Node[]> {
  return Promise.all(commands.filter(({ hidden }) => !hidden).map(nodeOf))
}

async function nodeOf(entry: CommandEntry): Promise<Node> {
  const loaded = await entry.load()
  const { name, summary } = entry
  if ('commands' in loaded) {
    return {
      name,
      summary,
      options: [],
      children: await Promise.all(loaded.commands.map(nodeOf)),
      files: false,
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
  }
}

function optionOf({ flags, description, choices }: Option): CompletedOption {
  return {
    names: flags.match(/--?[a-z][a-z-]*/gi) ?? [],
    description,
    choices: choices ?? [],
    takesValue: /[<[]/.test(flags),
  }
}
