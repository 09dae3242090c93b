import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, join, relative, sep } from 'node:path'
import { Problem } from '../../contract/errors.ts'
import { formatByName, withoutCompression } from '../../contract/formats.ts'
import { isPattern, patternOf } from '../files/patterns.ts'

/** A local file to be uploaded, and the folders that it goes to below --folder. */
export interface LocalFile {
  file: string
  folders: string[]
}

export interface Expanded {
  files: LocalFile[]
  /** Files of directories that are left out, because they are no data files. */
  skipped: string[]
  /** Files of directories that patterns leave out. */
  left: LocalFile[]
  /** Whether a directory or a pattern was given. */
  several: boolean
}

/**
 * The files that names, directories and patterns stand for. A directory keeps its structure, below a folder of
 * its name. `include` and `exclude` are patterns for file names, or for paths if they have a slash.
 */
export function expand(
  given: readonly string[],
  { include = [], exclude = [] }: { include?: readonly string[]; exclude?: readonly string[] },
): Expanded {
  const files: LocalFile[] = []
  const skipped: string[] = []
  const left: LocalFile[] = []
  let several = given.length > 1
  const isIncluded = matcher(include)
  const isExcluded = matcher(exclude)
  const add = (file: string, inside: string, folders: string[], isChosen: boolean): void => {
    if (isExcluded(inside) || (include.length > 0 && !isIncluded(inside))) left.push({ file, folders })
    else if (!isChosen && include.length === 0 && !isTakenFromDirectory(inside)) skipped.push(file)
    else files.push({ file, folders })
  }
  for (const one of given) {
    if (one === '-' || /^https?:\/\//i.test(one)) {
      files.push({ file: one, folders: [] })
      continue
    }
    const stats = statSync(one, { throwIfNoEntry: false })
    if (stats?.isDirectory()) {
      several = true
      const name = basename(one.replace(/[/\\]+$/, ''))
      const root = name === '.' || name === '..' || name === '' ? [] : [name]
      for (const path of filesBelow(one)) {
        const inside = relative(one, path).split(sep)
        add(path, inside.join('/'), [...root, ...inside.slice(0, -1)], false)
      }
    } else if (!stats && isPattern(one)) {
      several = true
      const found = matchingPaths(one)
      if (found.length === 0)
        throw new Problem('no_such_file', `no files match ${one}`, { hint: 'Check the pattern.' })
      for (const path of found) add(path, path.split(sep).join('/'), [], true)
    } else add(one, one.split(sep).join('/'), [], true)
  }
  return { files, skipped, left, several }
}

/** All files below a directory, sorted. Hidden ones are left out; links are not followed. */
function filesBelow(directory: string): string[] {
  const found: string[] = []
  for (const entry of readdirSync(directory, { withFileTypes: true }).sort(byName)) {
    if (entry.name.startsWith('.')) continue
    const path = join(directory, entry.name)
    if (entry.isDirectory()) found.push(...filesBelow(path))
    else if (entry.isFile()) found.push(path)
  }
  return found
}

function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : 1
}

/** Local files that match a pattern, sorted. `**` stands for directories at any depth. */
export function matchingPaths(pattern: string): string[] {
  const parts = pattern.split(/[/\\]/)
  let level = [parts[0] === '' ? '/' : /^[A-Za-z]:$/.test(parts[0]) ? `${parts[0]}\\` : '']
  const rest = level[0] === '' ? parts : parts.slice(1)
  for (const [k, part] of rest.entries()) {
    const isLast = k === rest.length - 1
    if (part === '' || part === '.') continue
    if (part === '**') {
      level = [...new Set(level.flatMap((path) => directoriesBelow(path)))]
      if (!isLast) continue
    }
    if (!isPattern(part) && part !== '**') {
      level = level.map((path) => join(path, part)).filter((path) => existsSync(path))
      continue
    }
    const wanted = patternOf(part === '**' ? '*' : part)
    level = level.flatMap((path) =>
      entriesOf(path)
        .filter(({ name }) => wanted.test(name) && (!name.startsWith('.') || part.startsWith('.')))
        .filter((entry) => isLast || entry.isDirectory())
        .map(({ name }) => join(path, name)),
    )
  }
  return level.filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile()).sort()
}

function entriesOf(path: string) {
  try {
    return readdirSync(path === '' ? '.' : path, { withFileTypes: true })
  } catch {
    return []
  }
}

function directoriesBelow(path: string): string[] {
  const below = entriesOf(path)
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .flatMap(({ name }) => directoriesBelow(join(path, name)))
  return [path, ...below]
}

/** Whether a path matches one of several patterns: by its last name, or as a whole if the pattern has a slash. */
export function matcher(patterns: readonly string[]): (path: string) => boolean {
  const tests = patterns.map((pattern) => {
    if (!pattern.includes('/')) {
      const name = patternOf(pattern)
      return (path: string) => name.test(path.slice(path.lastIndexOf('/') + 1))
    }
    const parts = pattern.split('/')
    return (path: string) => matchesPath(path.split('/'), parts)
  })
  return (path) => tests.some((test) => test(path))
}

function matchesPath(names: readonly string[], parts: readonly string[]): boolean {
  if (parts.length === 0) return names.length === 0
  if (parts[0] === '**')
    return names.some((_, k) => matchesPath(names.slice(k), parts.slice(1))) || parts.length === 1
  return names.length > 0 && patternOf(parts[0]).test(names[0]) && matchesPath(names.slice(1), parts.slice(1))
}

/** Whether a file of a directory is taken for data: plain text that is not compressed is not, a readme for example. */
function isTakenFromDirectory(file: string): boolean {
  const format = formatByName(file)
  return format !== undefined && (!/\.(txt|dat)$/i.test(file) || file !== withoutCompression(file))
}

/** Returns whether a file is a URL, which the server fetches. */
export function isAddress(file: string): boolean {
  return /^https?:\/\//i.test(file)
}
