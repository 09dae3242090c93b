import { statSync } from 'node:fs'
import { Problem } from '../../contract/errors.ts'
import { formatByName } from '../../contract/formats.ts'
import { quoted } from '../../contract/shell.ts'

/** Adds to an error what only the command line knows: that a name is one of a file of this machine. */
export function withHints(problem: Problem): Problem {
  const { code, message, hint = '' } = problem
  const [, name] = /^no (?:grid|file) at (.+)$/.exec(message) ?? []
  if (name === undefined || hint.includes('Did you mean')) return problem
  const isThere = statSync(name, { throwIfNoEntry: false })?.isFile() === true
  if (!isThere && formatByName(name))
    return new Problem(code, `${message}, and no such file on this machine`, { hint })
  if (!isThere) return problem
  return new Problem(code, message, {
    hint: `${name} is a file on this machine. Upload it first: gridline upload ${quoted(name)}`,
  })
}
