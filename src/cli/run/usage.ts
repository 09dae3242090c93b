// Converts errors of commander to our usage errors, with suggestions.
import { existsSync } from 'node:fs'
import type { Command as Commander, CommanderError } from 'commander'
import { Problem } from '../../contract/errors.ts'
import { findClosest, withSuggestion } from '../../contract/message-texts.ts'

/** Length of a message up to which all choices are listed beside a suggestion, in characters. */
const MAX_LIST_CHARACTERS = 160

/** Converts a commander error to a `usage` problem that suggests the intended word. */
export function convertCommanderError(error: CommanderError, command: Commander, help: string): Problem {
  const message = error.message.replace(/^error: /, '').replace(/\n/g, ' ')
  const [, word = ''] = /'([^']*)'/.exec(message) ?? []
  const [flag, ...values] = word.split(' ')
  if (error.code === 'commander.unknownOption' && values.length > 0)
    return new Problem('usage', message, {
      hint: `Quote only the value, or write ${flag}=${values.join(' ')}`,
    })
  if (error.code === 'commander.unknownOption' && existsSync(word))
    return new Problem('usage', message, { hint: `To name the file, write ./${word}` })
  const other = OTHER_WAYS[command.name()]?.[word]
  if (other !== undefined) return new Problem('usage', message, { hint: other })
  const suggestion = suggestWord(error.code, word, command, message)
  // The word that is meant says more than a long list.
  const isLong = message.length > MAX_LIST_CHARACTERS
  const short = suggestion !== undefined && isLong ? message.replace(/ Allowed choices are .*/, '') : message
  return new Problem('usage', short, {
    hint: withSuggestion(suggestion, help),
  })
}

/** Hints for options that a command of another tool has, by command. */
const OTHER_WAYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ls: { '-R': 'All folders: gridline ls --all', '--recursive': 'All folders: gridline ls --all' },
  query: { '--limit': 'Write it into the query: … limit 10' },
  share: { '--public': 'For everyone: gridline publish FILE' },
}

/** Options that other tools write as one letter. Ours have no short form. */
const MEANT_BY_LETTERS = ['--message', '--name', '--folder', '--output', '--limit']

/** Options that other commands, or tools, have under another name. */
const OPTION_BY_SYNONYM: Readonly<Record<string, string>> = {
  '--type': '--plot',
  '--plot': '--type',
  '--filter': '--where',
  '--order-by': '--sort',
}

/** Returns the closest command, option or choice; undefined if none is close. */
function suggestWord(code: string, word: string, command: Commander, message: string): string | undefined {
  if (code === 'commander.unknownCommand' || code === 'commander.excessArguments') {
    const visible = command.createHelp().visibleCommands(command)
    const names = visible.flatMap((visibleCommand) => [visibleCommand.name(), ...visibleCommand.aliases()])
    const match = findClosest(word, names)
    // For an alias, suggest the name that the help lists.
    return visible
      .find(
        (visibleCommand) =>
          match !== undefined && [visibleCommand.name(), ...visibleCommand.aliases()].includes(match),
      )
      ?.name()
  }
  if (code === 'commander.unknownOption') {
    const flags = command.options.flatMap(({ long, short }) => [long, short]).filter((flag) => flag != null)
    const synonym = OPTION_BY_SYNONYM[word]
    if (flags.includes(synonym)) return synonym
    if (word.length > 2) return findClosest(word, flags)
    const isMeant = (flag: string): boolean => flag.startsWith(`-${word}`)
    return MEANT_BY_LETTERS.find((flag) => isMeant(flag) && flags.includes(flag)) ?? flags.find(isMeant)
  }
  const [, choices] = /Allowed choices are (.*)\.$/.exec(message) ?? []
  if (choices === undefined) return undefined
  const [, value = ''] = /argument '([^']*)' is invalid/.exec(message) ?? []
  return findClosest(value, choices.split(', '))
}
