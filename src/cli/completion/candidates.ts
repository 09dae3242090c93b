// Determines the candidates for the word at the cursor.
import type { Context } from '../core/context.ts'
import {
  allOptionsOf,
  type Command,
  type CommandEntry,
  type Completion,
  type CompletionKind,
  hasCommandName,
  type Option,
} from '../core/define.ts'
import { outputFieldsOf } from '../core/output-schema.ts'
import { TOPICS } from '../help/topics.ts'
import { type Deadline, listValues } from './values.ts'

/** Candidates for the word at the cursor. */
export interface Candidates {
  words: Candidate[]
  /** True if the shell should also offer local files. */
  localFiles: boolean
}

/** One candidate. */
export interface Candidate {
  word: string
  /** Description that some shells show. */
  summary?: string
}

/** Maximum number of candidates. */
const MAX_CANDIDATES = 500

/** Returns the candidates for the last word of a command line (without the program name). */
export async function listCandidates(
  context: Context,
  commands: readonly CommandEntry[],
  words: readonly string[],
  deadline: Deadline,
): Promise<Candidates> {
  const position = await parseWords(commands, words.slice(0, -1))
  let current = words.at(-1) ?? ''
  let prefix = ''
  let expected = position.expected
  // `--option=value` is one word.
  const [, name, value] = /^(--[a-z-]+)=(.*)$/s.exec(current) ?? []
  const option =
    name === undefined ? undefined : position.options.find(({ flags }) => splitFlags(flags).includes(name))
  if (option && position.value === undefined) {
    expected = optionCompletion(option)
    prefix = `${name}=`
    current = value
  } else if (current.startsWith('-') && position.value === undefined && !position.isAfterOptions) {
    return {
      words: filterByPrefix(listOptionCandidates(position.options, words), current),
      localFiles: false,
    }
  } else if (position.value) {
    expected = optionCompletion(position.value)
  }
  const candidates = await expandCompletion(context, expected, current, position, deadline)
  // After --json come fields or the next argument.
  if (name === '--json' || words.at(-2) === '--json')
    candidates.words.unshift(...listFieldCandidates(position.command, current))
  const isPlain = ({ word }: Candidate): boolean =>
    !/[\u0000-\u001f\u007f-\u009f]/.test(word) &&
    word !== ':files' &&
    // Shells would treat it as an option.
    (position.isAfterOptions || !word.startsWith('-'))
  return {
    ...candidates,
    // Names with line breaks would become two candidates, and shells print control characters unescaped.
    words: filterByPrefix(candidates.words.filter(isPlain), current).map((candidate) => ({
      ...candidate,
      word: prefix + candidate.word,
    })),
  }
}

/** Returns the output fields of a command, after those already typed: `fid,filename`. */
function listFieldCandidates(command: Command | undefined, current: string): Candidate[] {
  const typedFields = current.split(',').slice(0, -1)
  const prefix = typedFields.map((field) => `${field},`).join('')
  const fields = (command && outputFieldsOf(command)) ?? []
  return fields.filter((field) => !typedFields.includes(field)).map((field) => ({ word: prefix + field }))
}

/** Returns the candidates with a prefix. */
function filterByPrefix(words: readonly Candidate[], prefix: string): Candidate[] {
  return words.filter(({ word }) => word.startsWith(prefix)).slice(0, MAX_CANDIDATES)
}

/** Position of the cursor in a command line. */
interface CursorPosition {
  options: readonly Option[]
  /** Option whose value comes next. */
  value: Option | undefined
  /** Expected next argument. */
  expected: Completion | { commands: readonly CommandEntry[]; topics?: boolean }
  /** Arguments, without commands and options. */
  typedArguments: string[]
  /** Grid whose columns are completed. */
  grid: string | undefined
  command: Command | undefined
  /** True after `--`: words with a leading dash are arguments. */
  isAfterOptions: boolean
}

/** Determines the cursor position after the given words. */
async function parseWords(
  commands: readonly CommandEntry[],
  words: readonly string[],
): Promise<CursorPosition> {
  const position: CursorPosition = {
    options: [{ flags: '--help', description: 'show help' }, VERSION_OPTION],
    value: undefined,
    expected: { commands, topics: words[0] === 'help' },
    typedArguments: [],
    grid: undefined,
    command: undefined,
    isAfterOptions: false,
  }
  let entries: readonly CommandEntry[] = commands
  let command: Command | undefined
  const rest = words[0] === 'help' ? words.slice(1) : words
  for (const word of rest) {
    if (position.value) {
      if (/--grid\b/.test(position.value.flags)) position.grid = word
      position.value = undefined
      continue
    }
    if (!position.isAfterOptions && word.startsWith('-')) {
      position.isAfterOptions = word === '--'
      const option = position.options.find(({ flags }) => splitFlags(flags).includes(word))
      if (option && requiresValue(option)) position.value = option
      continue
    }
    const entry = command ? undefined : entries.find((candidate) => hasCommandName(candidate, word))
    if (!entry) {
      position.typedArguments.push(word)
      entries = []
      if (!command) position.expected = undefined
      continue
    }
    // Only the named commands are loaded.
    const loaded = await entry.load()
    if ('commands' in loaded) {
      entries = loaded.commands
      position.expected = { commands: entries }
    } else {
      command = loaded.command
      position.options = [...allOptionsOf(command), { flags: '--help', description: 'show help' }]
    }
  }
  if (command) {
    const kinds = command.completion ?? argumentCompletions(command)
    // The last argument can be repeatable.
    const isRepeated = /\.\.\.[>\]]$/.test(command.arguments ?? '')
    const k = isRepeated
      ? Math.min(position.typedArguments.length, kinds.length - 1)
      : position.typedArguments.length
    position.expected = words[0] === 'help' ? undefined : kinds[k]
    position.grid ??= position.typedArguments[0]
    position.command = command
  }
  return position
}

const VERSION_OPTION: Option = { flags: '--version', description: 'print the version' }

/** Returns the candidates for an expected argument or value. */
async function expandCompletion(
  context: Context,
  expected: CursorPosition['expected'],
  current: string,
  { grid }: CursorPosition,
  deadline: Deadline,
): Promise<Candidates> {
  if (expected === undefined) return { words: [], localFiles: false }
  if (typeof expected === 'object' && 'commands' in expected) {
    const words = expected.commands
      .filter(({ hidden }) => !hidden)
      .map(({ name, summary }): Candidate => ({ word: name, summary }))
    if (expected.topics === false) words.push({ word: 'help', summary: 'Show help for a command or topic' })
    if (expected.topics)
      words.push(...Object.entries(TOPICS).map(([word, { summary }]): Candidate => ({ word, summary })))
    return { words, localFiles: false }
  }
  if (typeof expected === 'object' && 'words' in expected)
    return { words: expected.words.map((word) => ({ word })), localFiles: false }
  const kinds = typeof expected === 'string' ? [expected] : expected
  const names = kinds.filter((kind) => kind !== 'local')
  const values = await Promise.all(
    names.map((kind) => listValues(context, { kind, grid }, current, deadline)),
  )
  return {
    words: [...new Set(values.flat())].map((word) => ({ word })),
    localFiles: kinds.includes('local'),
  }
}

/** Lists option flags that are not yet given, or repeatable. */
function listOptionCandidates(options: readonly Option[], words: readonly string[]): Candidate[] {
  const precedingWords = words.slice(0, -1)
  return options.flatMap(({ flags, description, repeatable }) => {
    const names = splitFlags(flags)
    if (!repeatable && names.some((name) => precedingWords.includes(name))) return []
    return names.map((word) => ({ word, summary: description }))
  })
}

/** Splits flags: `-f, --field <key=value>` → `-f`, `--field`. */
function splitFlags(flags: string): string[] {
  return flags.replace(/[<[].*/s, '').match(/--?[a-z][a-z-]*/gi) ?? []
}

/** Returns whether an option requires a value. */
function requiresValue({ flags }: Option): boolean {
  return flags.includes('<')
}

/** Returns the completion kinds of arguments by name: `<grid>`, `<file...>`, `<team> <user...>`. */
function argumentCompletions({ arguments: syntax = '' }: Command): Completion[] {
  return [...syntax.matchAll(/[<[](\w+)/g)].map(([, name]) => KIND_BY_ARGUMENT[name])
}

/** Completion kinds by argument name. */
const KIND_BY_ARGUMENT: Readonly<Record<string, CompletionKind>> = {
  file: 'file',
  source: 'file',
  grid: 'grid',
  plot: 'plot',
  folder: 'folder',
  column: 'column',
  team: 'team',
  user: 'user',
}

/** Returns the completion of an option value: its choices, its declaration, or by name. */
function optionCompletion({ flags, completion, choices }: Option): Completion {
  if (choices) return { words: choices }
  if (completion) return completion
  const [, name = ''] = /--([a-z-]+)/.exec(flags) ?? []
  const [, value = ''] = /<([a-z|]+)>/.exec(flags) ?? []
  return KIND_BY_OPTION[name] ?? (value === 'file' ? 'local' : undefined)
}

/** Completion kinds by option name. */
const KIND_BY_OPTION: Readonly<Record<string, CompletionKind>> = {
  folder: 'folder',
  columns: 'column',
  ...Object.fromEntries(
    'x y z lat lon parent error y2 by facet animate color size text key sort'
      .split(' ')
      .map((name) => [name, 'column' as const]),
  ),
  team: 'team',
  grid: 'grid',
  user: 'user',
}
