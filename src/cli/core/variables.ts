import { closeSync, openSync, readSync } from 'node:fs'
import { Problem } from '../../contract/errors.ts'
import { camelCase, longName, type Option } from './define.ts'

/** Variables of others that `…_FILE` gives as well. */
const OF_OTHERS = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN']
const SUFFIX = '_FILE'
/** Maximum size of a value in a file, in bytes. */
const MAX_VALUE_BYTES = 65_536
/** Variables that are of files themselves. */
const OF_FILES = ['GRIDLINE_CA_FILE']

/**
 * The environment, with the values that are in files: `GRIDLINE_DATABASE_FILE` names a file with the value of
 * `GRIDLINE_DATABASE`. Line ends at its end are no part of it. Throws `usage` if a file cannot be read, or both are set.
 */
export function withFiles(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const found: NodeJS.ProcessEnv = {}
  for (const [variable, path] of Object.entries(environment)) {
    if (!path || !variable.endsWith(SUFFIX) || OF_FILES.includes(variable)) continue
    const name = variable.slice(0, -SUFFIX.length)
    if (!name.startsWith('GRIDLINE_') && !OF_OTHERS.includes(name)) continue
    if (environment[name])
      throw new Problem('usage', `both ${name} and ${variable} are set; unset one of them`)
    found[name] = contentOf(variable, path)
  }
  if (Object.keys(found).length === 0) return environment
  const files = new Set(Object.keys(found).map((name) => name + SUFFIX))
  return {
    ...Object.fromEntries(Object.entries(environment).filter(([name]) => !files.has(name))),
    ...found,
  }
}

function contentOf(variable: string, path: string): string {
  let text: string
  try {
    text = beginningOf(path)
  } catch (error) {
    throw new Problem('usage', `${variable}: cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`)
  }
  const value = text.replace(/[\r\n]+$/, '')
  if (value === '' || Buffer.byteLength(text) > MAX_VALUE_BYTES || value.includes('\0'))
    throw new Problem('usage', `${variable}: ${path} has no value: it is empty, too long or not text`)
  return value
}

/** Reads one byte more than a value can have: `/dev/zero` never ends. */
function beginningOf(path: string): string {
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

/** `NAME=value` for messages. A value that was read from a file is left out: it can be a secret. */
function assignment(variable: string, text: string): string {
  return process.env[variable + SUFFIX] ? `${variable}${SUFFIX}` : `${variable}=${text}`
}

/** The values of options that are not given, from their variables. Throws `usage` for one that does not fit. */
export function fromVariables(
  options: readonly Option[],
  given: Record<string, unknown>,
  environment: NodeJS.ProcessEnv,
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const { flags, variable, integer, repeatable } of options) {
    const text = variable === undefined ? undefined : environment[variable]
    const name = camelCase(longName(flags)!.slice(2))
    if (!variable || !text || given[name] !== undefined) continue
    if (!/[<[]/.test(flags)) values[name] = switchOf(variable, text)
    else if (repeatable)
      values[name] = text
        .split(',')
        .map((one) => one.trim())
        .filter(Boolean)
    else if (integer) {
      // Kubernetes sets GRIDLINE_PORT=tcp://… for a service of the name gridline.
      if (/^tcp:\/\//.test(text)) continue
      const { max = Number.MAX_SAFE_INTEGER } = integer
      if (!/^\d+$/.test(text) || Number(text) > max)
        throw new Problem('usage', `${assignment(variable, text)}: must be a whole number from 0 to ${max}`)
      values[name] = Number(text)
    } else values[name] = text
  }
  return values
}

function switchOf(variable: string, text: string): boolean {
  if (/^(1|true|yes|on)$/i.test(text)) return true
  if (/^(0|false|no|off)$/i.test(text)) return false
  throw new Problem('usage', `${assignment(variable, text)}: must be 1 or 0`)
}

/** A text without the passwords of the URLs in it. */
export function withoutPassword(text: string): string {
  return text
    .replace(/(:\/\/[^/@\s:]*):[^/\s]*@/g, '$1:***@')
    .replace(/([?&](?:password|sslpassword|[a-z_]*secret[a-z_]*)=)[^&\s]*/gi, '$1***')
}

/** Words of a command line without the passwords of URLs; undefined if there are none. */
export function withoutPasswords(words: readonly string[]): string[] | undefined {
  const clean = words.map(withoutPassword)
  return clean.some((word, at) => word !== words[at]) ? clean : undefined
}
