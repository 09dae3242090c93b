import { statSync } from 'node:fs'
import { Problem } from '../contract/errors.ts'
import { quoted } from './next.ts'

/** Adds to an error what only the command line knows: that a name is one of a file of this machine. */
export function withHints(problem: Problem): Problem {
  const { code, message, hint = '' } = problem
  const [, name] = /^no (?:grid|file) at (.+)$/.exec(message) ?? []
  if (name === undefined || hint.includes('Did you mean')) return problem
  if (!statSync(name, { throwIfNoEntry: false })?.isFile()) return problem
  return new Problem(code, message, {
    hint: `${name} is a file on this machine. Upload it first: gridline upload ${quoted(name)}`,
  })
}
