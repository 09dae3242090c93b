import { Problem } from '../../contract/errors.ts'
import { escapedMarkup } from '../../contract/markup.ts'
import { instantOf } from '../../json/index.ts'
import type { Attributes } from '../figure/figure.ts'
import { NOTE } from '../figure/names.ts'
import { hasLabels } from '../spec/column-names.ts'
import type { ChartOptions, Column } from '../spec/options.ts'

/** Names of the shapes that options make, so that they are known among others. */
export const MARK = 'gridline-mark'
export const BAND = 'gridline-band'

const MARK_COLOR = '#59636e'
const BAND_COLOR = 'rgba(120,130,145,0.18)'

/** The shapes of `--mark` and `--band`. Throws `usage`. */
export function shapesOf(
  { mark = [], band = [], logX, logY }: ChartOptions,
  x: Column | undefined,
): Attributes[] | undefined {
  const shapes = [
    ...band.map((given) => {
      const { axis, from, to, label } = placeOf('--band', given, 2, x)
      const across = { ...BOTH, [`${axis}0`]: from, [`${axis}1`]: to }
      return {
        name: BAND,
        type: 'rect',
        layer: 'below',
        ...refs(axis),
        ...across,
        fillcolor: BAND_COLOR,
        line: { width: 0 },
        ...(label && {
          label: { text: label, textposition: 'top left', font: { size: 12, color: MARK_COLOR } },
        }),
      }
    }),
    ...mark.map((given) => {
      const { axis, from, label } = placeOf('--mark', given, 1, x)
      if ((axis === 'x' ? logX : logY) && !(Number(from) > 0))
        throw new Problem('usage', `--mark ${given}: a logarithmic axis has numbers above 0 only`)
      const place =
        axis === 'x'
          ? { textposition: 'end', textangle: 0, xanchor: 'left', yanchor: 'top' }
          : { textposition: 'end', yanchor: 'bottom' }
      return {
        name: MARK,
        type: 'line',
        ...refs(axis),
        ...BOTH,
        [`${axis}0`]: from,
        [`${axis}1`]: from,
        line: { color: MARK_COLOR, width: 1.5, dash: 'dot' },
        ...(label && { label: { text: label, ...place, font: { size: 12, color: MARK_COLOR } } }),
      }
    }),
  ]
  return shapes.length > 0 ? shapes : undefined
}

/** The annotations of `--note`. Throws `usage`. */
export function notesOf({ note = [], logX, logY }: ChartOptions, x: Column | undefined): Attributes[] {
  return note.map((given) => {
    const value = valuePattern(hasLabels(x))
    const [, across, up, text] =
      new RegExp(`^\\s*(${value})\\s*,\\s*(${valuePattern(false)})\\s*:(.+)$`, 's').exec(given) ?? []
    const refuse = (): Problem =>
      new Problem('usage', `--note ${given}: expected X,Y:TEXT, where Y is a number`, {
        hint: "For example: '2024-03-01,120:Launch'",
      })
    if (text === undefined) throw refuse()
    const [left, top] = [placeIn(across, hasLabels(x), refuse), placeIn(up, false, refuse)]
    // plotly.js places annotations on a logarithmic axis by their exponents.
    const placed = (place: string | number, isLog: boolean | undefined): string | number =>
      isLog ? Math.log10(Number(place)) : place
    return {
      ...{ name: NOTE, text: escapedMarkup(text.trim()), x: placed(left, logX), y: placed(top, logY) },
      ...{ xref: 'x', yref: 'y', showarrow: true, arrowhead: 2, arrowsize: 0.8, arrowwidth: 1.5 },
      ...{ arrowcolor: MARK_COLOR, ax: 0, ay: -36, font: { size: 12 } },
    }
  })
}

/** A value as it is typed in a place: a number, a date, a time, or a label. */
function valuePattern(isLabel: boolean): string {
  return isLabel
    ? '[^,:]+'
    : String.raw`-?[\d.]+(?:[eE][-+]?\d+)?|\d{1,4}-\d{2}(?:-\d{2}(?:[T ]\d{2}(?::\d{2}(?::\d{2}(?:\.\d+)?)?)?)?)?`
}

function placeIn(text: string, isLabel: boolean, refuse: () => Problem): string | number {
  const number = Number(text)
  if (!isLabel && text.trim() !== '' && Number.isFinite(number)) return number
  if (!isLabel && Number.isNaN(instantOf(text))) throw refuse()
  return text.trim()
}

/** The whole width or height of the plot. */
const BOTH = { x0: 0, x1: 1, y0: 0, y1: 1 }

function refs(axis: 'x' | 'y'): Attributes {
  return axis === 'x' ? { xref: 'x', yref: 'paper' } : { xref: 'paper', yref: 'y' }
}

interface Place {
  axis: 'x' | 'y'
  from: string | number
  to: string | number
  label: string | undefined
}

/** Reads `x=2024-03-01:Launch`, or `y=1,2:Range`. Times have colons of their own: the label is behind the value. */
function placeOf(flag: string, given: string, count: 1 | 2, x: Column | undefined): Place {
  const example = flag === '--mark' ? 'x=2024-03-01:Launch' : 'x=2020-03-01,2020-06-01:Closed'
  const refuse = (): Problem =>
    new Problem(
      'usage',
      `${flag} ${given}: expected AXIS=${count === 1 ? 'VALUE' : 'FROM,TO'}:LABEL, where values are numbers or dates such as 2024-03-01`,
      { hint: `For example: '${example}'` },
    )
  const [, axis, rest] = /^\s*([xy])\s*=\s*(.+)$/s.exec(given) ?? []
  if (axis === undefined) throw refuse()
  const isLabels = axis === 'x' && hasLabels(x)
  const value = valuePattern(isLabels)
  const pattern = count === 1 ? `^(${value})(?::(.*))?$` : `^(${value}),\\s*(${value})(?::(.*))?$`
  const found = new RegExp(pattern, 's').exec(rest.trim())
  if (!found) throw refuse()
  const [from, to] = count === 1 ? [found[1], found[1]] : [found[1], found[2]]
  const label = found[count + 1]?.trim()
  const read = (text: string): string | number => placeIn(text, isLabels, refuse)
  return { axis: axis as 'x' | 'y', from: read(from), to: read(to), label: label || undefined }
}

/** The options that say the same as shapes. */
export function markOptions(shapes: unknown): Pick<ChartOptions, 'mark' | 'band'> {
  const own = Array.isArray(shapes) ? (shapes as Attributes[]) : []
  const textOf = (shape: Attributes, ends: 1 | 2): string => {
    const axis = shape.xref === 'paper' ? 'y' : 'x'
    const values = [shape[`${axis}0`], shape[`${axis}1`]].slice(0, ends).join(',')
    return `${axis}=${values}${shape.label?.text ? `:${shape.label.text}` : ''}`
  }
  const mark = own.filter(({ name }) => name === MARK).map((shape) => textOf(shape, 1))
  const band = own.filter(({ name }) => name === BAND).map((shape) => textOf(shape, 2))
  return { mark: mark.length > 0 ? mark : undefined, band: band.length > 0 ? band : undefined }
}
