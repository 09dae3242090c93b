// Reads figures from JSON and HTML files.
import { existsSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { isObject } from '../../charts/figure/figure.ts'
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import { defaultLimits } from '../../contract/limits.ts'
import { isJson } from '../../json/index.ts'
import { nullNotFinite } from '../files/exact-json.ts'
import { readWhole } from '../files/input.ts'

/** Figure from a file or standard input (`-`). */
export interface FigureFile {
  /** Name without extension; undefined for standard input. */
  name: string | undefined
  /** Figure as JSON, copied verbatim to preserve numbers. */
  text: string
}

const FIGURE_HINT = 'Use a figure as written by Plotly: {"data": […], "layout": {…}}.'

/** Size in bytes above which JSON files count as data. */
const MAX_FIGURE_BYTES = 64 * 1024 ** 2

/** Returns whether a word is a file with a figure, not a data file or the name of a plot. */
export async function isFigureFile(word: string): Promise<boolean> {
  if (word === '-') return true
  if (!/\.(json|html?)$/i.test(word) || !existsSync(word)) return false
  if (!/\.json$/i.test(word)) return true
  if (statSync(word).size > MAX_FIGURE_BYTES) return false
  try {
    return isFigure(JSON.parse((await readWhole(word)).toString('utf8').replace(/^\ufeff/, '')))
  } catch {
    // Errors are reported when the file is read.
    return true
  }
}

/** Returns whether a JSON value is a figure or a list of traces, not a table. */
export function isFigure(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0 || value.some(isTrace)
  if (!isObject(value)) return false
  const { data, layout, figure, x } = value
  if (figure !== undefined || typeof layout === 'object') return true
  if (typeof x === 'object' && x !== null && 'data' in x) return true
  return Array.isArray(data) ? isFigure(data) : typeof data === 'object' && data !== null && isFigure(data)
}

/** Returns whether a JSON value is a trace. */
function isTrace(trace: unknown): boolean {
  if (!isObject(trace)) return false
  const { x, y, z, type } = trace
  if ([x, y, z].some(Array.isArray) || Object.keys(trace).some((key) => /^[a-z]+src$/.test(key))) return true
  return (
    typeof type === 'string' &&
    Object.values(trace).some((value) => typeof value === 'object' && value !== null)
  )
}

/** Adds a hint to "not found" errors of plots: whether a local file has that name. */
export function withLocalFileHint(error: unknown, name: string): unknown {
  if (!(error instanceof Problem) || error.code !== 'not_found') return error
  const { code, message } = error
  if (existsSync(name))
    return new Problem(code, message, {
      hint: `${name} is a file on this machine. Upload it first: gridline upload ${name}`,
    })
  if (/\.(json|html?)$/i.test(name))
    return new Problem(code, `${message}, and no file of that name on this machine`, { hint: error.hint })
  return error
}

/** Reads the figure of a file. Throws `bad_data` if there are several. */
export async function readFigure(file: string): Promise<FigureFile> {
  const figures = await readFigures(file)
  if (figures.length > 1)
    throw new Problem('bad_data', `${file}: the page contains ${figures.length} charts`, {
      hint: 'To create plots of all of them, use: gridline plot create',
    })
  return figures[0]
}

/**
 * Reads the figures of a file: JSON as written by plotly.py, plotly.js, R and Kaleido, or a page written by
 * `write_html` or `htmlwidgets::saveWidget`. Does not run scripts. `onUnread` is called with the number of charts whose
 * figure is not JSON.
 */
export async function readFigures(file: string, onUnread?: (count: number) => void): Promise<FigureFile[]> {
  const source = file === '-' ? 'standard input' : file
  const bytes = await readWhole(file)
  const text = bytes
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .trim()
  const name = file === '-' ? undefined : plotNameOf(file)
  if (!text.startsWith('<')) return [{ name, text: await extractFigure(text, source) }]
  const { figures, unread } = await findFigures(text, source)
  if (figures.length === 0)
    throw new Problem('bad_data', `${source}: no Plotly chart found in this page`, {
      hint: 'Use a page written by write_html of plotly.py, or saveWidget of htmlwidgets (R).',
    })
  if (unread > 0) onUnread?.(unread)
  return figures.map((figure, k) => ({
    name: figures.length === 1 || name === undefined ? name : `${name} ${k + 1}`,
    text: figure,
  }))
}

/** Copied members of a figure. R adds others about the origin. */
const FIGURE_MEMBERS = ['data', 'layout', 'frames', 'config'] as const

/**
 * Returns the figure in JSON text: an object, a list of traces, or an object around a figure. Throws
 * `bad_data`.
 */
async function extractFigure(text: string, source: string): Promise<string> {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    const finite = nullNotFinite(text)
    if (finite !== text) return extractFigure(finite, source)
    throw new Problem('bad_data', `${source}: not JSON: ${errorMessageOf(error)}`, { hint: FIGURE_HINT })
  }
  if (Array.isArray(parsed)) {
    if (isFigure(parsed)) return `{"data":${text}}`
    throw new Problem('bad_data', `${source}: a table, not a figure`, {
      hint: `To chart it: gridline upload ${source} --plot TYPE --x COLUMN --y COLUMN`,
    })
  }
  if (typeof parsed !== 'object' || parsed === null)
    throw new Problem('bad_data', `${source}: not a figure`, { hint: FIGURE_HINT })
  const { parseRaw } = await import('../../json/index.ts')
  let figure = parseRaw(Buffer.from(text), source, defaultLimits)
  // Requests of Kaleido and some exports wrap the figure.
  for (const wrapper of ['figure', 'data', 'x']) {
    const inner = figure.get(wrapper)
    if (inner?.kind === 'object' && (inner.get('data') || inner.get('layout'))) figure = inner
  }
  if (!figure.get('data') && !figure.get('layout'))
    throw new Problem('bad_data', `${source}: not a figure`, { hint: FIGURE_HINT })
  const members = FIGURE_MEMBERS.flatMap((member) => {
    const value = figure.get(member)
    return value === undefined || value.kind === 'null' ? [] : [`"${member}":${value.bytes.toString('utf8')}`]
  })
  return `{${members.join(',')}}`
}

/** Figures of a page as JSON, and number of calls that draw a figure which is not JSON. */
interface PageFigures {
  figures: string[]
  unread: number
}

/** Finds the figures in the text of a page. Runs nothing. */
export async function findFigures(html: string, source: string): Promise<PageFigures> {
  const widgets = await findRFigures(html)
  const frames = await findFrames(html, source)
  const { figures, unread } = await findPythonFigures(html, frames, source, widgets.length === 0)
  return { figures: [...figures, ...widgets], unread }
}

/** Arguments of a call in a message of plotly.js itself, which many pages contain. */
const LIBRARY_ARGUMENTS = 'gd, data, layout, { mapboxAccessToken'

/** Finds calls of pages: `Plotly.newPlot("id", [traces], {layout}, {config})`, and `Plotly.plot(` before 2016. */
async function findPythonFigures(
  html: string,
  framesById: Map<string, string>,
  source: string,
  /** Whether calls count that name no chart: the script of htmlwidgets has such. */
  countsVariables: boolean,
): Promise<PageFigures> {
  const figures: string[] = []
  const ids = new Set<string>()
  /** Adds the figure of a call, unless `isNew` refuses its id. Returns whether the call has one. */
  const addFigure = async (at: number, isNew = (_: string): boolean => true): Promise<boolean> => {
    const [id, ...values] = parseJsonArguments(html, at, 3, source)
    const figure = id?.[0] === '"' ? await joinFigure(values, framesById.get(id)) : undefined
    if (figure !== undefined && isNew(id)) {
      figures.push(figure)
      ids.add(id)
    }
    return figure !== undefined
  }
  let unread = 0
  for (const at of [...findPositions(html, 'Plotly.newPlot('), ...findPositions(html, 'Plotly.plot(')]) {
    if (html.startsWith(LIBRARY_ARGUMENTS, at) || (await addFigure(at))) continue
    const isCounted = countsVariables || NAMES_CHART.test(html.slice(at, at + MAX_ARGUMENT_START))
    if (isCounted && ++unread >= MAX_UNREAD_CALLS) break
  }
  // Draws a chart, or changes one that was drawn before.
  let changes = 0
  for (const at of findPositions(html, 'Plotly.react(')) {
    if (changes++ >= MAX_UNREAD_CALLS) break
    await addFigure(at, (id) => !ids.has(id))
  }
  return { figures, unread }
}

/** A call whose first argument is a text: the id of the element of a chart. */
const NAMES_CHART = /^\s*["']/
const MAX_ARGUMENT_START = 100

/** Joins the arguments of a call to a figure: traces and a layout, or an object of both. Undefined for others. */
async function joinFigure(
  [data, layout]: readonly string[],
  frames: string | undefined,
): Promise<string | undefined> {
  if (data?.[0] === '{') {
    const figure = await extractFigure(data, 'the page').catch(() => undefined)
    const hasFrames = figure !== undefined && JSON.parse(figure).frames !== undefined
    return figure && frames && !hasFrames ? `${figure.slice(0, -1)},"frames":${frames}}` : figure
  }
  if (data?.[0] !== '[') return undefined
  return `{"data":${data}${layout?.[0] === '{' ? `,"layout":${layout}` : ''}${frames ? `,"frames":${frames}` : ''}}`
}

/** Finds frames by chart id: `Plotly.addFrames('id', [frames])`. */
async function findFrames(html: string, source: string): Promise<Map<string, string>> {
  const framesById = new Map<string, string>()
  for (const at of findPositions(html, 'Plotly.addFrames(')) {
    const [id, list] = parseJsonArguments(html, at, 2, source)
    if (id?.[0] === '"' && list?.[0] === '[') framesById.set(id, list)
  }
  return framesById
}

/** Finds htmlwidgets: `<script type="application/json" data-for="…">{"x": {"data": […], "layout": {…}}}`. */
async function findRFigures(html: string): Promise<string[]> {
  const figures: string[] = []
  for (const at of findPositions(html, '<script type="application/json" data-for="')) {
    const from = html.indexOf('>', at) + 1
    const to = html.indexOf('</script>', from)
    if (from === 0 || to < 0) continue
    const text = html.slice(from, to)
    try {
      const { x } = JSON.parse(text)
      if (Array.isArray(x?.data) && typeof x.layout === 'object')
        figures.push(await extractFigure(text, 'the page'))
    } catch {
      // Another widget.
    }
  }
  return figures
}

/** Maximum number of searched calls, and of those that are incomplete, against hostile pages. */
const MAX_SEARCHED_CALLS = 20_000
const MAX_UNREAD_CALLS = 200

/** Yields the positions after each occurrence of `part`, up to `MAX_SEARCHED_CALLS`. */
function* findPositions(text: string, part: string): Generator<number> {
  let count = 0
  for (let at = text.indexOf(part); at >= 0 && count++ < MAX_SEARCHED_CALLS; at = text.indexOf(part, at + 1))
    yield at + part.length
}

/**
 * Returns up to `count` comma-separated JSON values from `at`. Converts single to double quotes. Empty if one
 * is not JSON.
 */
function parseJsonArguments(text: string, at: number, count: number, source: string): string[] {
  const values: string[] = []
  let from = at
  while (values.length < count) {
    while (/\s/.test(text[from] ?? '')) from++
    const end = findValueEnd(text, from)
    if (end === undefined) {
      // In a complete page, this call is not JSON.
      if (
        text.indexOf('</script>', from) < 0 &&
        '[{'.includes(text[from] || ' ') &&
        values.length > 0 &&
        values.every(isJson)
      )
        throw new Problem('bad_data', `${source}: the page ends in the middle of a chart`, {
          hint: 'Write or download the page again.',
        })
      if (NO_VALUE.test(text.slice(from, from + MAX_NO_VALUE_CHARACTERS))) break
      return []
    }
    const value = text.slice(from, end)
    values.push(value[0] === "'" ? `"${value.slice(1, -1)}"` : nullNotFinite(value))
    from = end
    while (/\s/.test(text[from] ?? '')) from++
    if (text[from] !== ',') break
    from++
  }
  // A call with variables is not JSON.
  return values.every(isJson) ? values : []
}

/** `undefined` or `null` as an argument, or the end of the arguments. */
const NO_VALUE = /^(?:(?:undefined|null)\s*)?[,)]/
const MAX_NO_VALUE_CHARACTERS = 100

/** Returns the end of the array, object or string that begins at `from`; undefined for anything else. */
function findValueEnd(text: string, from: number): number | undefined {
  if (text[from] === "'") {
    const end = text.indexOf("'", from + 1)
    return end < 0 || end - from > 200 ? undefined : end + 1
  }
  let depth = 0
  // Texts of a figure cannot contain the closing tag of the script.
  const script = text.indexOf('</script>', from)
  const length = script < 0 ? text.length : script
  for (let k = from; k < length; k++) {
    const c = text[k]
    if (c === '"') {
      for (k++; k < length && text[k] !== '"'; k++) if (text[k] === '\\') k++
      if (depth === 0) return k < length ? k + 1 : undefined
    } else if (c === '[' || c === '{') depth++
    else if (c === ']' || c === '}') {
      if (--depth === 0) return k + 1
      if (depth < 0) return undefined
    } else if (depth === 0) return undefined
  }
  return undefined
}

/** Returns the name of a plot for a file: without folders and extension. */
export function plotNameOf(file: string): string {
  return basename(file).replace(/\.(json|html?)$/i, '')
}
