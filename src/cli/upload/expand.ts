// Finds the local files that names, directories and patterns refer to.
import { existsSync, readdirSync, type Stats, statSync } from 'node:fs'
import { basename, join, relative, sep } from 'node:path'
import { Problem } from '../../contract/errors.ts'
import { formatOfFileName, removeCompressionExtension } from '../../contract/formats.ts'
import { formatCount } from '../../contract/message-texts.ts'
import { readDirectory } from '../files/input.ts'
import { compilePattern, isPattern } from '../files/patterns.ts'
import type { Messages } from '../output/messages.ts'

/** Local file to upload, with its folders below --folder. */
export interface LocalFile {
  file: string
  folders: string[]
  /** Name of the stored file, if it is not that of a data file without its extension. */
  name?: string
}

export interface Expanded {
  files: readonly LocalFile[]
  /** Files in directories that are not data files. */
  skipped: string[]
  /** Files excluded by --include or --exclude, and symbolic links in directories. */
  excluded: readonly LocalFile[]
  /** Symbolic links in directories, which are not followed: they can lead to files that nobody means to send. */
  links: readonly string[]
  /** True if a directory, a pattern or several names were given. */
  isMultiple: boolean
}

/**
 * Lists the files of names, directories and patterns. A directory keeps its structure, in a folder of its
 * name. `include` and `exclude` match file names, or paths if they contain a slash. Throws `no_such_file`, and `failed`
 * for a directory that cannot be read.
 */
export function expandFiles(
  words: readonly string[],
  {
    include = [],
    exclude = [],
    isDefinition = () => false,
  }: {
    include?: readonly string[]
    exclude?: readonly string[]
    /** Returns whether a file that is no data is listed as well. */
    isDefinition?: (file: string) => boolean
  },
): Expanded {
  const files: LocalFile[] = []
  const skipped: string[] = []
  const excluded: LocalFile[] = []
  const links: string[] = []
  let several = words.length > 1
  const isIncluded = createMatcher(include)
  const isExcluded = createMatcher(exclude)
  const add = (file: string, relativePath: string, folders: string[], isNamed: boolean): void => {
    if (isExcluded(relativePath) || (include.length > 0 && !isIncluded(relativePath)))
      excluded.push({ file, folders })
    else if (!isNamed && include.length === 0 && !isDataFileName(relativePath) && !isDefinition(relativePath))
      skipped.push(file)
    else files.push({ file, folders })
  }
  for (const word of words) {
    if (word === '-' || /^https?:\/\//i.test(word)) {
      files.push({ file: word, folders: [] })
      continue
    }
    const stats = findStats(word)
    if (stats?.isDirectory()) {
      several = true
      const name = basename(word.replace(/[/\\]+$/, ''))
      const root = name === '.' || name === '..' || name === '' ? [] : [name]
      for (const { path, isLink } of listFilesBelow(word)) {
        const segments = relative(word, path).split(sep)
        const folders = [...root, ...segments.slice(0, -1)]
        const relativePath = segments.join('/')
        if (!isLink) add(path, relativePath, folders, false)
        else {
          if (!isExcluded(relativePath)) links.push(path)
          excluded.push({ file: path, folders })
        }
      }
    } else if (!stats && isPattern(word)) {
      several = true
      const paths = listMatchingPaths(word)
      if (paths.length === 0)
        throw new Problem('no_such_file', `no files match ${word}`, { hint: 'Check the pattern.' })
      for (const path of paths) add(path, path.split(sep).join('/'), [], true)
    } else add(word, word.split(sep).join('/'), [], true)
  }
  return { files, skipped, excluded, links, isMultiple: several }
}

/** Files that a message names. */
const MAX_NAMED = 3

/** Returns the first names of files, for a message. */
export function someOf(files: readonly string[]): string {
  return files.slice(0, MAX_NAMED).join(', ') + (files.length > MAX_NAMED ? ' …' : '')
}

/** Says which symbolic links were left out. */
export function noteLinks(messages: Pick<Messages, 'note'>, { links }: Pick<Expanded, 'links'>): void {
  if (links.length === 0) return
  const were = links.length === 1 ? 'was' : 'were'
  messages.note(`${formatCount(links.length, 'symbolic link')} ${were} skipped: ${someOf(links)}`)
}

/** Returns the state of what a name refers to; undefined if there is no such file, or none that can be read. */
function findStats(name: string): Stats | undefined {
  try {
    return statSync(name, { throwIfNoEntry: false })
  } catch {
    // Reading it says why.
    return undefined
  }
}

/** Lists all files and links below a directory, sorted, without hidden ones. Does not follow links. */
function listFilesBelow(directory: string): { path: string; isLink: boolean }[] {
  const found: { path: string; isLink: boolean }[] = []
  for (const entry of readDirectory(directory)) {
    if (entry.name.startsWith('.')) continue
    const path = join(directory, entry.name)
    if (entry.isDirectory()) found.push(...listFilesBelow(path))
    else if (entry.isFile() || entry.isSymbolicLink()) found.push({ path, isLink: entry.isSymbolicLink() })
  }
  return found
}

/** Lists the local files that match a pattern, sorted. `**` matches directories at any depth. */
export function listMatchingPaths(pattern: string): string[] {
  const segments = pattern.split(/[/\\]/)
  let directories = [segments[0] === '' ? '/' : /^[A-Za-z]:$/.test(segments[0]) ? `${segments[0]}\\` : '']
  const rest = directories[0] === '' ? segments : segments.slice(1)
  for (const [k, part] of rest.entries()) {
    const isLast = k === rest.length - 1
    if (part === '' || part === '.') continue
    if (part === '**') {
      directories = [...new Set(directories.flatMap((path) => listDirectoriesBelow(path)))]
      if (!isLast) continue
    }
    if (!isPattern(part) && part !== '**') {
      directories = directories.map((path) => join(path, part)).filter((path) => existsSync(path))
      continue
    }
    const expression = compilePattern(part === '**' ? '*' : part)
    directories = directories.flatMap((path) =>
      listEntries(path)
        .filter(({ name }) => expression.test(name) && (!name.startsWith('.') || part.startsWith('.')))
        .filter((entry) => isLast || entry.isDirectory())
        .map(({ name }) => join(path, name)),
    )
  }
  return directories.filter((path) => findStats(path)?.isFile()).sort()
}

/** Lists the entries of a directory; none if it is unreadable. */
function listEntries(path: string) {
  try {
    return readdirSync(path === '' ? '.' : path, { withFileTypes: true })
  } catch {
    return []
  }
}

/** Lists a directory and all directories below it. */
function listDirectoriesBelow(path: string): string[] {
  const below = listEntries(path)
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .flatMap(({ name }) => listDirectoriesBelow(join(path, name)))
  return [path, ...below]
}

/** Returns a function that matches paths: by file name, or completely if the pattern contains a slash. */
export function createMatcher(patterns: readonly string[]): (path: string) => boolean {
  const tests = patterns.map((pattern) => {
    if (!pattern.includes('/')) {
      const name = compilePattern(pattern)
      return (path: string) => name.test(path.slice(path.lastIndexOf('/') + 1))
    }
    const segments = pattern.split('/')
    return (path: string) => matchesPath(path.split('/'), segments)
  })
  return (path) => tests.some((test) => test(path))
}

/** Returns whether the names of a path match the segments of a pattern. */
function matchesPath(names: readonly string[], segments: readonly string[]): boolean {
  if (segments.length === 0) return names.length === 0
  if (segments[0] === '**')
    return names.some((_, k) => matchesPath(names.slice(k), segments.slice(1))) || segments.length === 1
  return (
    names.length > 0 &&
    compilePattern(segments[0]).test(names[0]) &&
    matchesPath(names.slice(1), segments.slice(1))
  )
}

/**
 * Returns whether a file of a directory counts as data. Uncompressed plain text does not: it can be a readme.
 */
function isDataFileName(file: string): boolean {
  const format = formatOfFileName(file)
  return format !== undefined && (!/\.(txt|dat)$/i.test(file) || file !== removeCompressionExtension(file))
}

/** Returns whether a file is a URL, which the server fetches. */
export function isAddress(file: string): boolean {
  return /^https?:\/\//i.test(file)
}
