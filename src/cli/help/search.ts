// Searches the documentation for words: `gridline help WORD`.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { installationFolder } from '../../contract/installation.ts'

/** Address of the documentation. */
const DOCS_URL = 'https://github.com/gridline/gridline/blob/main/docs'
const MAX_RESULTS = 8
const MAX_LINE_CHARACTERS = 100
/** Words that people use, and those of the documentation. */
const SYNONYMS: Readonly<Record<string, string>> = {
  excel: 'xlsx',
  graph: 'chart',
  graphs: 'chart',
  spreadsheet: 'xlsx',
  dark: 'theme',
  docker: 'dockerfile',
  colour: 'color',
  email: 'e-mail',
  dashboard: 'board',
  dashboards: 'board',
  threshold: 'alert',
  notification: 'alert',
  notifications: 'alert',
  schedule: 'regularly',
  cron: 'regularly',
}
/** How much more a word in a heading counts than one in the text. */
const HEADING_WEIGHT = 10
/** Occurrences in a text that count. */
const MAX_COUNTED = 5

/** Long lists, which come after texts that explain. */
const REFERENCES: ReadonlySet<string> = new Set(['README.md', 'api.md', 'json.md'])

/** A section of a document: from a heading to the next. */
interface Section {
  file: string
  /** Its heading, and those above it. */
  headings: readonly string[]
  text: string
}

/** Returns the sections with all words, as text of lines up to `width` characters; undefined if there are none. */
export function searchDocs(given: readonly string[], width = MAX_LINE_CHARACTERS): string | undefined {
  const words = given.map((word) => SYNONYMS[word.toLowerCase()] ?? word)
  if (!words.every((word) => /[\p{L}\p{N}]/u.test(word))) return undefined
  const folder = join(installationFolder(), 'docs')
  const found = listSections(folder)
    .map((section) => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_RESULTS)
  if (found.length === 0) return undefined
  const entries = found.map(
    ({ section }) =>
      `${section.headings.join(' › ')}\n  ${snippetOf(section, words, Math.min(width, MAX_LINE_CHARACTERS) - 4)}\n  ${section.file}#${anchorOf(section)}\n`,
  )
  return `${entries.join('\n')}\nThe files are in ${folder},\nand at ${DOCS_URL}\n`
}

function listSections(folder: string): Section[] {
  let files: string[]
  try {
    files = readdirSync(folder).filter((file) => file.endsWith('.md') && file !== 'architecture.md')
  } catch {
    return []
  }
  return files.flatMap((file) => splitSections(file, readFileSync(join(folder, file), 'utf8')))
}

function splitSections(file: string, markdown: string): Section[] {
  const sections: Section[] = []
  const path: string[] = []
  let isCode = false
  let lines: string[] = []
  const end = (): void => {
    if (path.length > 0) sections.push({ file, headings: path.filter(Boolean), text: lines.join('\n') })
    lines = []
  }
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode
    const [, marks, heading] = (!isCode && /^(#{1,4}) (.+)$/.exec(line)) || []
    if (heading === undefined) lines.push(line)
    else {
      end()
      path.length = marks.length - 1
      path.push(plainText(heading))
    }
  }
  end()
  return sections
}

/** Returns 0 if a word is missing. */
function scoreOf({ file, headings, text }: Section, words: readonly string[]): number {
  const last = headings.at(-1)!.toLowerCase()
  const all = `${headings.join(' ')}\n${text}`.toLowerCase()
  let score = 0
  for (const word of words.map((one) => one.toLowerCase())) {
    const count = all.split(word).length - 1
    if (count === 0) return 0
    const isWhole = new RegExp(`(?<![\\w-])${word.replace(/[^\w-]/g, '\\$&')}(?:s|es|ed|ing)?(?![\\w-])`)
    const weight = isWhole.test(all) ? 2 : 0.1
    score += (Math.min(count, MAX_COUNTED) + (isWhole.test(last) ? HEADING_WEIGHT : 0)) * weight
  }
  return REFERENCES.has(file) ? score / 3 : score
}

/** Returns the part of the text around the first word that is in it, on one line. */
function snippetOf({ text }: Section, words: readonly string[], width: number): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('```'))
  const has = (line: string): boolean => words.some((word) => line.toLowerCase().includes(word.toLowerCase()))
  const line = plainText(lines.find(has) ?? lines[0] ?? '')
  const at = Math.max(0, ...words.map((word) => line.toLowerCase().indexOf(word.toLowerCase())))
  // From the begin of a word, with some words before.
  const from = at < width / 2 ? 0 : line.indexOf(' ', at - width / 2) + 1
  const part = line.slice(from, from + width)
  return `${from > 0 ? '… ' : ''}${part}${from + part.length < line.length ? '…' : ''}`
}

/** Removes the marks of links, code and tables. */
function plainText(markdown: string): string {
  return markdown
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]|^[|#>\s-]+/g, '')
    .replace(/\s*\|\s*/g, ' · ')
    .trim()
}

/** Returns the anchor of a heading, as code hosts make it. */
function anchorOf({ headings }: Section): string {
  return headings
    .at(-1)!
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replace(/ /g, '-')
}
