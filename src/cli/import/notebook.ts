// Finds the figures in the outputs of Jupyter notebooks, of formats 3 and 4.
import { isObject } from '../../charts/figure/figure.ts'
import { Problem } from '../../contract/errors.ts'
import { findFigures } from '../charts/figures.ts'
import { parseExact } from '../files/exact-json.ts'
import { createLostFrame, extractFigure, type Finding, findOldCharts, UNREAD_REASON } from './finding.ts'

const FIGURE_TYPE = 'application/vnd.plotly.v1+json'
/** Maximum length of a heading in a name, in characters. */
const MAX_HEADING_CHARACTERS = 80

interface Cell {
  cell_type?: unknown
  source?: unknown
  outputs?: unknown
}

/** Returns the text of a notebook, which may be a list of lines. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.filter((line) => typeof line === 'string').join('')
  return typeof value === 'string' ? value : ''
}

function listObjects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** Returns the cells. Throws `bad_data` if the JSON is no notebook. */
function listCells(notebook: unknown, name: string): Cell[] {
  if (isObject(notebook) && Array.isArray(notebook.cells)) return listObjects(notebook.cells)
  if (isObject(notebook) && Array.isArray(notebook.worksheets))
    return listObjects(notebook.worksheets).flatMap(({ cells }) => listObjects(cells))
  throw new Problem('bad_data', `${name}: not a notebook: it has no cells`)
}

/** Returns the last heading in a cell, without its markup; undefined without one. */
function lastHeading({ cell_type, source }: Cell): string | undefined {
  const text = textOf(source)
  const headings =
    cell_type === 'heading'
      ? [text]
      : cell_type === 'markdown'
        ? [...text.matchAll(/^#{1,6}[ \t]+(.+)$/gm)].map(([, heading]) => heading)
        : []
  const plain = headings
    .at(-1)
    ?.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/<[^<>]*>|[*`#]|(?<!\w)_+|_+(?!\w)/g, '')
    .trim()
  return plain ? plain.slice(0, MAX_HEADING_CHARACTERS) : undefined
}

/** Returns the contents of an output by media type. Format 3 has them as members, under short names. */
function contentsOf(output: Record<string, unknown>): { figure: unknown; html: string } {
  const data = isObject(output.data) ? output.data : {}
  const figure = data[FIGURE_TYPE]
  return {
    figure: Array.isArray(figure) ? textOf(figure) : figure,
    html:
      textOf(data['text/html'] ?? output.html) + textOf(data['application/javascript'] ?? output.javascript),
  }
}

/** Lists the figures of widgets (`FigureWidget`), whose state is in the metadata. */
function listWidgetFigures(notebook: unknown): Record<string, unknown>[] {
  const metadata = isObject(notebook) && isObject(notebook.metadata) ? notebook.metadata : {}
  const widgets = isObject(metadata.widgets) ? Object.values(metadata.widgets) : []
  const states = widgets.flatMap((widget) =>
    isObject(widget) && isObject(widget.state) ? Object.values(widget.state) : [],
  )
  return states.flatMap((entry) => {
    const state = isObject(entry) && isObject(entry.state) ? entry.state : {}
    const figure = Array.isArray(state._data)
      ? extractFigure({ data: state._data, layout: state._layout })
      : undefined
    return figure ? [figure] : []
  })
}

/** Finds the figures of a notebook, named by it and their heading or order, and frames of a former server. */
export async function findNotebookFigures(notebook: unknown, name: string): Promise<Finding[]> {
  const found: { heading: string | undefined; finding: Finding }[] = []
  let heading: string | undefined
  for (const cell of listCells(notebook, name)) {
    heading = lastHeading(cell) ?? heading
    if (cell.cell_type === 'markdown')
      for (const lost of findOldCharts(textOf(cell.source)))
        found.push({ heading, finding: createLostFrame(name, lost) })
    for (const output of listObjects(cell.outputs)) {
      const { figure, html } = contentsOf(output)
      const [old, ...others] = findOldCharts(html)
      const extracted = figure === undefined ? undefined : extractFigure(figure)
      const page = extracted ? undefined : await findFigures(html, name)
      const figures = extracted
        ? [extracted]
        : page!.figures.map((text) => parseExact(text) as Record<string, unknown>)
      for (let k = 0; k < (page?.unread ?? 0); k++)
        found.push({ heading, finding: { kind: 'lost', name, why: UNREAD_REASON } })
      for (const one of figures)
        found.push({
          heading,
          finding: { kind: 'plot', name, figure: one, old: figures.length === 1 ? old : undefined },
        })
      if (figure !== undefined && !extracted)
        found.push({ heading, finding: { kind: 'lost', name, why: 'an output that is not a figure' } })
      for (const lost of figures.length === 1 ? others : old ? [old, ...others] : [])
        found.push({ heading, finding: createLostFrame(name, lost) })
    }
  }
  for (const figure of listWidgetFigures(notebook))
    found.push({ heading: undefined, finding: { kind: 'plot', name, figure } })
  if (found.length === 0)
    return [{ kind: 'skipped', name: `${name}.ipynb`, why: 'no chart found in this notebook' }]
  return found.map(({ heading, finding }, k) => ({
    ...finding,
    name: heading === undefined ? (found.length === 1 ? name : `${name} ${k + 1}`) : `${name}, ${heading}`,
  }))
}
