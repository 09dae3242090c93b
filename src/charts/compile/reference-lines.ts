// Reference lines, bands and notes.
import type { Problem } from '../../contract/errors.ts'
import { escapeMarkup } from '../../contract/plotly-markup.ts'
import { parseInstant } from '../../json/index.ts'
import type { Attributes } from '../figure/figure.ts'
import { BAND_NAME, MARK_NAME, NOTE_NAME } from '../figure/shared-names.ts'
import { hasLabels } from '../spec/column-names.ts'
import { createUsageError } from '../spec/errors.ts'
import type { ChartOptions, Column } from '../spec/options.ts'

const MARK_COLOR = '#59636e'
const BAND_COLOR = 'rgba(120,130,145,0.18)'

/** Returns the shapes of `--mark` and `--band`; undefined if there are none. Throws `usage`. */
export function createShapes(
  { mark = [], band = [], logX, logY }: ChartOptions,
  x: Column | undefined,
): Attributes[] | undefined {
  const shapes = [
    ...band.map((input) => {
      const { axis, from, to, label } = parseMark('--band', input, 2, x)
      const extent = { ...FULL_EXTENT, [`${axis}0`]: from, [`${axis}1`]: to }
      return {
        name: BAND_NAME,
        type: 'rect',
        layer: 'below',
        ...axisReferencesOf(axis),
        ...extent,
        fillcolor: BAND_COLOR,
        line: { width: 0 },
        ...(label && {
          label: { text: label, textposition: 'top left', font: { size: 12, color: MARK_COLOR } },
        }),
      }
    }),
    ...mark.map((input) => {
      const { axis, from, label } = parseMark('--mark', input, 1, x)
      if ((axis === 'x' ? logX : logY) && !(Number(from) > 0))
        throw createUsageError(`--mark ${input}: values on a logarithmic axis must be above 0`)
      const labelPosition =
        axis === 'x'
          ? { textposition: 'end', textangle: 0, xanchor: 'left', yanchor: 'top' }
          : { textposition: 'end', yanchor: 'bottom' }
      return {
        name: MARK_NAME,
        type: 'line',
        ...axisReferencesOf(axis),
        ...FULL_EXTENT,
        [`${axis}0`]: from,
        [`${axis}1`]: from,
        line: { color: MARK_COLOR, width: 1.5, dash: 'dot' },
        ...(label && { label: { text: label, ...labelPosition, font: { size: 12, color: MARK_COLOR } } }),
      }
    }),
  ]
  return shapes.length > 0 ? shapes : undefined
}

/** Returns the annotations of `--note`. Throws `usage`. */
export function createNotes({ note = [], logX, logY }: ChartOptions, x: Column | undefined): Attributes[] {
  return note.map((input) => {
    const value = valuePatternOf(hasLabels(x))
    const [, xText, yText, text] =
      new RegExp(`^\\s*(${value})\\s*,\\s*(${valuePatternOf(false)})\\s*:(.+)$`, 's').exec(input) ?? []
    const createProblem = (): Problem =>
      createUsageError(
        `--note ${input}: expected X,Y:TEXT, where Y is a number`,
        "For example: '2024-03-01,120:Launch'",
      )
    if (text === undefined) throw createProblem()
    const [x0, y0] = [
      parsePosition(xText, hasLabels(x), createProblem),
      parsePosition(yText, false, createProblem),
    ]
    // On logarithmic axes, plotly.js expects exponents in annotations.
    const toAxisValue = (place: string | number, isLog: boolean | undefined): string | number =>
      isLog ? Math.log10(Number(place)) : place
    return {
      ...{
        name: NOTE_NAME,
        text: escapeMarkup(text.trim()),
        x: toAxisValue(x0, logX),
        y: toAxisValue(y0, logY),
      },
      ...{ xref: 'x', yref: 'y', showarrow: true, arrowhead: 2, arrowsize: 0.8, arrowwidth: 1.5 },
      ...{ arrowcolor: MARK_COLOR, ax: 0, ay: -36, font: { size: 12 } },
    }
  })
}

/** Returns the regular expression of a typed value: number, date, time or label. */
function valuePatternOf(isLabel: boolean): string {
  return isLabel
    ? '[^,:]+'
    : String.raw`-?[\d.]+(?:[eE][-+]?\d+)?|\d{1,4}-\d{2}(?:-\d{2}(?:[T ]\d{2}(?::\d{2}(?::\d{2}(?:\.\d+)?)?)?)?)?`
}

/** Parses a typed value; throws the result of `createProblem` if it is invalid. */
function parsePosition(text: string, isLabel: boolean, createProblem: () => Problem): string | number {
  const number = Number(text)
  if (!isLabel && text.trim() !== '' && Number.isFinite(number)) return number
  if (!isLabel && Number.isNaN(parseInstant(text))) throw createProblem()
  return text.trim()
}

/** Full width and height of the plot area. */
const FULL_EXTENT = { x0: 0, x1: 1, y0: 0, y1: 1 }

function axisReferencesOf(axis: 'x' | 'y'): Attributes {
  return axis === 'x' ? { xref: 'x', yref: 'paper' } : { xref: 'paper', yref: 'y' }
}

/** A parsed `--mark` or `--band`. */
interface ParsedMark {
  axis: 'x' | 'y'
  from: string | number
  to: string | number
  label: string | undefined
}

/** Parses `x=2024-03-01:Launch` or `y=1,2:Range`. The label comes last: times contain colons too. */
function parseMark(flag: string, input: string, count: 1 | 2, x: Column | undefined): ParsedMark {
  const example = flag === '--mark' ? 'x=2024-03-01:Launch' : 'x=2020-03-01,2020-06-01:Closed'
  const createProblem = (): Problem =>
    createUsageError(
      `${flag} ${input}: expected AXIS=${count === 1 ? 'VALUE' : 'FROM,TO'}:LABEL, where values are numbers or dates such as 2024-03-01`,
      `For example: '${example}'`,
    )
  const [, axis, rest] = /^\s*([xy])\s*=\s*(\S.*)$/s.exec(input) ?? []
  if (axis === undefined) throw createProblem()
  const isLabels = axis === 'x' && hasLabels(x)
  const value = valuePatternOf(isLabels)
  const pattern = count === 1 ? `^(${value})(?::(.*))?$` : `^(${value}),\\s*(${value})(?::(.*))?$`
  const match = new RegExp(pattern, 's').exec(rest.trim())
  if (!match) throw createProblem()
  const [from, to] = count === 1 ? [match[1], match[1]] : [match[1], match[2]]
  const label = match[count + 1]?.trim()
  const parseValue = (text: string): string | number => parsePosition(text, isLabels, createProblem)
  return {
    axis: axis === 'x' ? 'x' : 'y',
    from: parseValue(from),
    to: parseValue(to),
    label: label || undefined,
  }
}

/** Returns the options that shapes were created from. */
export function readMarkOptions(shapes: unknown): Pick<ChartOptions, 'mark' | 'band'> {
  const all: Attributes[] = Array.isArray(shapes) ? shapes : []
  const formatShape = (shape: Attributes, ends: 1 | 2): string => {
    const axis = shape.xref === 'paper' ? 'y' : 'x'
    const values = [shape[`${axis}0`], shape[`${axis}1`]].slice(0, ends).join(',')
    return `${axis}=${values}${shape.label?.text ? `:${shape.label.text}` : ''}`
  }
  const mark = all.filter(({ name }) => name === MARK_NAME).map((shape) => formatShape(shape, 1))
  const band = all.filter(({ name }) => name === BAND_NAME).map((shape) => formatShape(shape, 2))
  return { mark: mark.length > 0 ? mark : undefined, band: band.length > 0 ? band : undefined }
}
