import { basename } from 'node:path'
import { Problem } from '../contract/errors.ts'
import { wholeOf } from './input.ts'

/** A figure from a file or standard input (`-`). */
export interface FigureFile {
  /** The file, in messages. */
  source: string
  /** The name without extension; undefined for standard input. */
  name: string | undefined
  /** The figure as a JSON object, copied verbatim to preserve numbers. */
  text: string
}

/** Reads a figure as Plotly writes it: an object, or only the list of its traces. */
export async function readFigure(file: string): Promise<FigureFile> {
  const source = file === '-' ? 'standard input' : file
  const text = (await wholeOf(file))
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .trim()
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    throw new Problem('bad_data', `${source}: not JSON: ${(error as Error).message}`, {
      hint: 'Use a figure as written by Plotly: {"data": […], "layout": {…}}.',
    })
  }
  if (typeof parsed !== 'object' || parsed === null)
    throw new Problem('bad_data', `${source}: not a figure`, { hint: 'Use {"data": […], "layout": {…}}.' })
  return {
    source,
    name: file === '-' ? undefined : basename(file).replace(/\.json$/i, ''),
    text: Array.isArray(parsed) ? `{"data":${text}}` : text,
  }
}
