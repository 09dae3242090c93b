import type { Context } from '../core/context.ts'
import {
  type Command,
  type CommandEntry,
  type Completed,
  type Completion,
  isNamed,
  type Option,
  optionsOf,
} from '../core/define.ts'
import { fieldsOf } from '../core/prints.ts'
import { topics } from '../help/topics.ts'
import { type Patience, valuesOf } from './values.ts'

/** What a shell offers for the word at the cursor. */
export interface Candidates {
  words: Candidate[]
  /** Whether the shell also offers files of this machine, which it does better. */
  localFiles: boolean
}

export interface Candidate {
  word: string
  /** Shown beside it by shells that do so. */
  summary?: string
}

/** Words that are offered at most. */
const MAX_WORDS = 500

/** What completes the last of these words: those of a command line, without the program. */
export async function candidatesFor(
  context: Context,
  commands: readonly CommandEntry[],
  words: readonly string[],
  patience: Patience,
): Promise<Candidates> {
  const at = await parse(commands, words.slice(0, -1))
  let current = words.at(-1) ?? ''
  let before = ''
  let expected = at.expected
  // --option=value is one word.
  const [, name, value] = /^(--[a-z-]+)=(.*)$/s.exec(current) ?? []
  const option =
    name === undefined ? undefined : at.options.find(({ flags }) => namesOf(flags).includes(name))
  if (option && at.value === undefined) {
    expected = completionOf(option)
    before = `${name}=`
    current = value
  } else if (current.startsWith('-') && at.value === undefined && !at.isAfterOptions) {
    return { words: matching(optionWords(at.options, words), current), localFiles: false }
  } else if (at.value) {
    expected = completionOf(at.value)
  }
  const found = await expand(context, expected, current, at, patience)
  // Fields may follow --json, or the next argument.
  if (name === '--json' || words.at(-2) === '--json') found.words.unshift(...fieldWords(at.command, current))
  const isPlain = ({ word }: Candidate): boolean =>
    !/[\u0000-\u001f\u007f-\u009f]/.test(word) &&
    word !== ':files' &&
    // It would be taken for an option.
    (at.isAfterOptions || !word.startsWith('-'))
  return {
    ...found,
    // A name with a line end would be two, and shells show control characters as they are.
    words: matching(found.words.filter(isPlain), current).map((one) => ({ ...one, word: before + one.word })),
  }
}

/** The fields of what a command prints, each behind those that are given: `fid,filename`. */
function fieldWords(command: Command | undefined, current: string): Candidate[] {
  const given = current.split(',').slice(0, -1)
  const before = given.map((field) => `${field},`).join('')
  const fields = (command && fieldsOf(command)) ?? []
  return fields.filter((field) => !given.includes(field)).map((field) => ({ word: before + field }))
}

function matching(words: readonly Candidate[], start: string): Candidate[] {
  return words.filter(({ word }) => word.startsWith(start)).slice(0, MAX_WORDS)
}

/** Where in a command line the cursor is. */
interface Place {
  options: readonly Option[]
  /** The option whose value is next. */
  value: Option | undefined
  /** What the next argument is. */
  expected: Completion | { commands: readonly CommandEntry[]; topics?: boolean }
  /** The arguments, without commands and options. */
  given: string[]
  /** The grid that columns are of. */
  grid: string | undefined
  command: Command | undefined
  /** After `--`, words that begin with a dash are arguments. */
  isAfterOptions: boolean
}

async function parse(commands: readonly CommandEntry[], words: readonly string[]): Promise<Place> {
  const place: Place = {
    options: [{ flags: '--help', description: 'show help' }, programVersion],
    value: undefined,
    expected: { commands, topics: words[0] === 'help' },
    given: [],
    grid: undefined,
    command: undefined,
    isAfterOptions: false,
  }
  let entries: readonly CommandEntry[] = commands
  let command: Command | undefined
  const rest = words[0] === 'help' ? words.slice(1) : words
  for (const word of rest) {
    if (place.value) {
      if (/--grid\b/.test(place.value.flags)) place.grid = word
      place.value = undefined
      continue
    }
    if (!place.isAfterOptions && word.startsWith('-')) {
      place.isAfterOptions = word === '--'
      const option = place.options.find(({ flags }) => namesOf(flags).includes(word))
      if (option && takesValue(option)) place.value = option
      continue
    }
    const entry = command ? undefined : entries.find((one) => isNamed(one, word))
    if (!entry) {
      place.given.push(word)
      entries = []
      if (!command) place.expected = undefined
      continue
    }
    // Only the commands that are named are loaded.
    const loaded = await entry.load()
    if ('commands' in loaded) {
      entries = loaded.commands
      place.expected = { commands: entries }
    } else {
      command = loaded.command
      place.options = [...optionsOf(command), { flags: '--help', description: 'show help' }]
    }
  }
  if (command) {
    const kinds = command.completes ?? kindsOf(command)
    // The last argument may be one that repeats.
    const isRepeated = /\.\.\.[>\]]$/.test(command.arguments ?? '')
    const k = isRepeated ? Math.min(place.given.length, kinds.length - 1) : place.given.length
    place.expected = words[0] === 'help' ? undefined : kinds[k]
    place.grid ??= place.given[0]
    place.command = command
  }
  return place
}

const programVersion: Option = { flags: '--version', description: 'print the version' }

async function expand(
  context: Context,
  expected: Place['expected'],
  current: string,
  { grid }: Place,
  patience: Patience,
): Promise<Candidates> {
  if (expected === undefined) return { words: [], localFiles: false }
  if (typeof expected === 'object' && 'commands' in expected) {
    const words = expected.commands
      .filter(({ hidden }) => !hidden)
      .map(({ name, summary }): Candidate => ({ word: name, summary }))
    if (expected.topics === false) words.push({ word: 'help', summary: 'Show help for a command or topic' })
    if (expected.topics)
      words.push(...Object.entries(topics).map(([word, { summary }]): Candidate => ({ word, summary })))
    return { words, localFiles: false }
  }
  if (typeof expected === 'object' && 'words' in expected)
    return { words: expected.words.map((word) => ({ word })), localFiles: false }
  const kinds = [expected].flat() as Completed[]
  const names = kinds.filter((kind) => kind !== 'local')
  const found = await Promise.all(names.map((kind) => valuesOf(context, { kind, grid }, current, patience)))
  return {
    words: [...new Set(found.flat())].map((word) => ({ word })),
    localFiles: kinds.includes('local'),
  }
}

/** Names of options that are not given yet, or may be repeated. */
function optionWords(options: readonly Option[], given: readonly string[]): Candidate[] {
  const before = given.slice(0, -1)
  return options.flatMap(({ flags, description, repeatable }) => {
    const names = namesOf(flags)
    if (!repeatable && names.some((name) => before.includes(name))) return []
    return names.map((word) => ({ word, summary: description }))
  })
}

/** `-f, --field <key=value>` → `-f`, `--field`. */
function namesOf(flags: string): string[] {
  return flags.replace(/[<[].*/s, '').match(/--?[a-z][a-z-]*/gi) ?? []
}

function takesValue({ flags }: Option): boolean {
  return flags.includes('<')
}

/** What the arguments of a command are, by their names: `<grid>`, `<file...>`, `<team> <user...>`. */
function kindsOf({ arguments: given = '' }: Command): Completion[] {
  return [...given.matchAll(/[<[](\w+)/g)].map(([, name]) => argumentKinds[name])
}

const argumentKinds: Readonly<Record<string, Completed>> = {
  file: 'file',
  source: 'file',
  grid: 'grid',
  plot: 'plot',
  folder: 'folder',
  column: 'column',
  team: 'team',
  user: 'user',
}

/** What the value of an option is: its choices, or by its name or that of its value. */
function completionOf({ flags, completes, choices }: Option): Completion {
  if (choices) return { words: choices }
  if (completes) return completes
  const [, name = ''] = /--([a-z-]+)/.exec(flags) ?? []
  const [, value = ''] = /<([a-z|]+)>/.exec(flags) ?? []
  return optionKinds[name] ?? (value === 'file' ? 'local' : undefined)
}

const optionKinds: Readonly<Record<string, Completed>> = {
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
