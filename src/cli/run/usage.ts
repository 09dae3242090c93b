import { existsSync } from 'node:fs'
import type { Command as Commander, CommanderError } from 'commander'
import { closest, hintWith } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'

/** A mistake in a command line, with the word that was probably meant. */
export function usageProblem(error: CommanderError, command: Commander, help: string): Problem {
  const message = error.message.replace(/^error: /, '').replace(/\n/g, ' ')
  const [, given = ''] = /'([^']*)'/.exec(message) ?? []
  const [flag, ...values] = given.split(' ')
  if (error.code === 'commander.unknownOption' && values.length > 0)
    return new Problem('usage', message, {
      hint: `Quote only the value, or write ${flag}=${values.join(' ')}`,
    })
  if (error.code === 'commander.unknownOption' && existsSync(given))
    return new Problem('usage', message, { hint: `To name the file, write ./${given}` })
  const meant = meantBy(error.code, given, command, message)
  return new Problem('usage', message, {
    hint: hintWith(meant, help),
  })
}

function meantBy(code: string, given: string, command: Commander, message: string): string | undefined {
  if (code === 'commander.unknownCommand' || code === 'commander.excessArguments') {
    const visible = command.createHelp().visibleCommands(command)
    const names = visible.flatMap((one) => [one.name(), ...one.aliases()])
    const found = closest(given, names)
    // A synonym leads to the name that the help lists.
    return visible
      .find((one) => found !== undefined && [one.name(), ...one.aliases()].includes(found))
      ?.name()
  }
  if (code === 'commander.unknownOption')
    return closest(
      given,
      command.options.flatMap(({ long, short }) => [long, short]).filter((flag) => flag != null),
    )
  const [, choices] = /Allowed choices are (.*)\.$/.exec(message) ?? []
  if (choices === undefined) return undefined
  const [, value = ''] = /argument '([^']*)' is invalid/.exec(message) ?? []
  return closest(value, choices.split(', '))
}
