// Adds a hint if an unknown name is a local file.
import { statSync } from 'node:fs'
import { Problem } from '../../contract/errors.ts'
import { formatOfFileName } from '../../contract/formats.ts'
import { quoteShellWord } from '../../contract/shell.ts'

/** Adds a hint to "not found" errors: whether the name is a file on this machine. */
export function withLocalFileHint(problem: Problem): Problem {
  const { code, message, hint = '' } = problem
  const [, name] = /^no (?:grid|file) at (.+)$/.exec(message) ?? []
  if (name === undefined || hint.includes('Did you mean')) return problem
  const isLocalFile = statSync(name, { throwIfNoEntry: false })?.isFile() === true
  if (!isLocalFile && formatOfFileName(name))
    return new Problem(code, `${message}, and no file of that name on this machine`, { hint })
  if (!isLocalFile) return problem
  return new Problem(code, message, {
    hint: `${name} is a file on this machine. Upload it first: gridline upload ${quoteShellWord(name)}`,
  })
}
