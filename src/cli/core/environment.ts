// Reads options from environment variables and `…_FILE` files.
import { closeSync, openSync, readSync } from 'node:fs'
import { errorCodeOf, Problem } from '../../contract/errors.ts'
import { camelCase, longFlagOf, type Option } from './define.ts'

/** Variables without our prefix that can also be set by `…_FILE`. */
const FOREIGN_VARIABLES = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN']
const FILE_SUFFIX = '_FILE'
/** Maximum size of a value in a file, in bytes. */
const MAX_VALUE_BYTES = 65_536
/** Variables ending in _FILE that hold a path, not a value. */
const PATH_VARIABLES = ['GRIDLINE_CA_FILE']

/**
 * Replaces each `NAME_FILE` by `NAME` with the content of that file, without trailing line breaks. Throws
 * `usage` if a file is unreadable, or both variables are set.
 */
export function readVariableFiles(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const values: NodeJS.ProcessEnv = {}
  for (const [variable, path] of Object.entries(environment)) {
    if (!path || !variable.endsWith(FILE_SUFFIX) || PATH_VARIABLES.includes(variable)) continue
    const name = variable.slice(0, -FILE_SUFFIX.length)
    if (!name.startsWith('GRIDLINE_') && !FOREIGN_VARIABLES.includes(name)) continue
    if (environment[name])
      throw new Problem('usage', `both ${name} and ${variable} are set; unset one of them`)
    values[name] = readValueFile(variable, path)
  }
  if (Object.keys(values).length === 0) return environment
  const files = new Set(Object.keys(values).map((name) => name + FILE_SUFFIX))
  return {
    ...Object.fromEntries(Object.entries(environment).filter(([name]) => !files.has(name))),
    ...values,
  }
}

/** Reads a value from a file. Throws `usage` if it is unreadable, empty, too long, or not text. */
function readValueFile(variable: string, path: string): string {
  let text: string
  try {
    text = readBeginning(path)
  } catch (error) {
    throw new Problem('usage', `${variable}: cannot read ${path}: ${errorCodeOf(error)}`)
  }
  const value = text.replace(/[\r\n]+$/, '')
  if (value === '' || Buffer.byteLength(text) > MAX_VALUE_BYTES || value.includes('\0'))
    throw new Problem(
      'usage',
      `${variable}: ${path} is empty, binary or longer than ${MAX_VALUE_BYTES} bytes`,
    )
  return value
}

/** Reads at most one byte more than the limit: files like `/dev/zero` never end. */
function readBeginning(path: string): string {
  const bytes = Buffer.alloc(MAX_VALUE_BYTES + 1)
  const file = openSync(path, 'r')
  try {
    let size = 0
    for (let read = -1; read !== 0 && size < bytes.length; size += read)
      read = readSync(file, bytes, size, bytes.length - size, null)
    return bytes.toString('utf8', 0, size)
  } finally {
    closeSync(file)
  }
}

/** Formats `NAME=value` for messages, without values from files: they can be secrets. */
function formatAssignment(variable: string, text: string): string {
  return process.env[variable + FILE_SUFFIX] ? `${variable}${FILE_SUFFIX}` : `${variable}=${text}`
}

/**
 * Reads options that are missing from the command line from their variables. Throws `usage` for invalid
 * values.
 */
export function readOptionVariables(
  options: readonly Option[],
  present: Record<string, unknown>,
  environment: NodeJS.ProcessEnv,
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const { flags, variable, integer, repeatable } of options) {
    const text = variable === undefined ? undefined : environment[variable]
    const flag = longFlagOf(flags)!.slice(2)
    const isNegative = flag.startsWith('no-')
    const name = camelCase(isNegative ? flag.slice('no-'.length) : flag)
    // The value of a negative option is true unless it is given.
    if (!variable || !text || (isNegative ? present[name] === false : present[name] !== undefined)) continue
    if (isNegative) values[name] = !parseSwitch(variable, text)
    else if (!/[<[]/.test(flags)) values[name] = parseSwitch(variable, text)
    else if (repeatable)
      values[name] = text
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean)
    else if (integer) {
      // Kubernetes sets GRIDLINE_PORT=tcp://… for a service named gridline.
      if (/^tcp:\/\//.test(text)) continue
      const { max = Number.MAX_SAFE_INTEGER } = integer
      if (!/^\d+$/.test(text) || Number(text) > max)
        throw new Problem(
          'usage',
          `${formatAssignment(variable, text)}: must be a whole number from 0 to ${max}`,
        )
      values[name] = Number(text)
    } else values[name] = text
  }
  return values
}

/** Parses a boolean variable. Throws `usage` for other texts. */
function parseSwitch(variable: string, text: string): boolean {
  if (/^(1|true|yes|on)$/i.test(text)) return true
  if (/^(0|false|no|off)$/i.test(text)) return false
  throw new Problem('usage', `${formatAssignment(variable, text)}: must be 1 or 0`)
}

/** Masks passwords and secrets in the URLs of a text. */
export function maskPasswords(text: string): string {
  return text
    .replace(/(:\/\/[^/@\s:]*):[^/\s]*@/g, '$1:***@')
    .replace(/([?&](?:password|sslpassword|[a-z_]*secret[a-z_]*)=)[^&\s]*/gi, '$1***')
}

/** Masks passwords in the words of a command line; undefined if there are none. */
export function maskCommandLine(words: readonly string[]): string[] | undefined {
  const clean = words.map(maskPasswords)
  return clean.some((word, at) => word !== words[at]) ? clean : undefined
}
