// Finds figures, grids and lost charts in documents. Runs no code of them.
import { isObject } from '../../charts/figure/figure.ts'
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import { type Fid, isUsername, parseFid } from '../../contract/fid.ts'
import { findFigures, plotNameOf } from '../charts/figures.ts'
import { ACCOUNT_FORMAT } from '../export/manifest.ts'
import { nullNotFinite, parseExact } from '../files/exact-json.ts'
import type { Document } from './documents.ts'
import { createLostFrame, extractFigure, type Finding, findOldCharts, UNREAD_REASON } from './finding.ts'
import { findNotebookFigures } from './notebook.ts'

/** Formats of documents, by extension of the file name. */
const READERS: Readonly<
  Record<string, (text: string, document: Document) => Finding[] | Promise<Finding[]>>
> = {
  ipynb: (text, { name, path }) => findNotebookFigures(parseJson(text, path), stemOf(name)),
  json: (text, { name, path }) => [findInJson(parseJson(text, path), name)],
  html: findInPage,
  htm: findInPage,
}

/** Formats that are not read, by extension, and why. */
const UNREADABLE: Readonly<Record<string, string>> = {
  rdata: 'a workspace of R: save its charts with htmlwidgets::saveWidget',
  rds: 'an object of R: save its chart with htmlwidgets::saveWidget',
  fig: 'a figure of MATLAB: save it as JSON with plotly',
  pkl: 'an object of Python: save its figure with write_json',
}

/** Finds everything in a document. Throws `bad_data` if it is damaged. */
export async function findInDocument(document: Document): Promise<Finding[]> {
  const { name } = document
  const extension = /\.(\w+)$/.exec(name)?.[1].toLowerCase() ?? ''
  const why = UNREADABLE[extension]
  if (why !== undefined) return [{ kind: 'skipped', name, why }]
  const bytes = await document.read()
  const text = bytes.toString('utf8').replace(/^\ufeff/, '')
  const start = text.slice(0, 1000).trimStart()
  // Pages of the web have any name.
  const kind = Object.hasOwn(READERS, extension)
    ? extension
    : start.startsWith('<')
      ? 'html'
      : start.startsWith('{')
        ? 'json'
        : undefined
  if (kind === undefined)
    return [{ kind: 'skipped', name, why: 'not a figure: if it is data, use gridline upload' }]
  return READERS[kind](text, document)
}

/** Returns the name of a document without its extension. */
function stemOf(name: string): string {
  return plotNameOf(name.replace(/\.ipynb$/i, ''))
}

/** Parses JSON. Throws `bad_data`. */
function parseJson(text: string, path: string): unknown {
  try {
    return parseExact(text)
  } catch (error) {
    const finite = nullNotFinite(text)
    if (finite !== text) return parseJson(finite, path)
    throw new Problem('bad_data', `${path}: not JSON, or incomplete: ${errorMessageOf(error)}`)
  }
}

/** Finds the figure or grid of a JSON file. */
function findInJson(parsed: unknown, fileName: string): Finding {
  const name = stemOf(fileName)
  const old = oldFidOf(parsed, name)
  for (const value of [parsed, isObject(parsed) ? parsed.data : undefined])
    if (isObject(value) && isObject(value.cols))
      return { kind: 'grid', name, old, data: { cols: value.cols } }
  if (isObject(parsed) && parsed.format === ACCOUNT_FORMAT)
    return {
      kind: 'skipped',
      name: fileName,
      why: 'an exported account: unpack it, and import its directory alone',
    }
  const figure = extractFigure(parsed)
  return figure
    ? { kind: 'plot', name, old, figure }
    : { kind: 'skipped', name: fileName, old, why: 'neither a figure nor a grid' }
}

/** Returns the number of a file on the former server: in the JSON, or in the name (`ada_9`, `ada:9`, `9`). */
function oldFidOf(parsed: unknown, name: string): Fid | undefined {
  const inner = isObject(parsed) && isObject(parsed.file) ? parsed.file : parsed
  const given = isObject(inner) && typeof inner.fid === 'string' ? parseFid(inner.fid) : undefined
  if (given && given.idlocal >= 0) return given
  // Longer digits without a name are rather a date.
  const [, owner, id] = /^(?:([\w.-]+)[:_](?=\d{1,9}$)|(?=\d{1,6}$))(\d+)$/.exec(name) ?? []
  if (id === undefined || (owner !== undefined && !isUsername(owner))) return undefined
  return { owner: owner ?? '', idlocal: Number(id) }
}

/** Finds the charts of a page: figures, and frames and embed blocks of a former server, which are lost. */
async function findInPage(text: string, { name: fileName, path }: Document): Promise<Finding[]> {
  const name = stemOf(fileName)
  const { figures, unread } = await findFigures(text, path)
  const found: Finding[] = figures.map((figure, k) => ({
    kind: 'plot',
    name: figures.length === 1 ? name : `${name} ${k + 1}`,
    figure: parseExact(figure) as Record<string, unknown>,
  }))
  for (let k = 0; k < unread; k++) found.push({ kind: 'lost', name, why: UNREAD_REASON })
  for (const old of findOldCharts(text)) found.push(createLostFrame(name, old))
  return found.length > 0 ? found : [{ kind: 'skipped', name: fileName, why: 'no chart found in this page' }]
}
