import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { type Client, headerText, resolve } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import type { HeadersOf, ResultOf } from '../../contract/operations/index.ts'
import type { Context } from '../core/context.ts'
import { bodyOf, nameOfInput, openInput } from './input.ts'
import { type ReadingOptions, readingHeaders, refuseReadingOptions } from './parse-options.ts'

/** A grid to read, and the client of the service that has it. */
export interface Readable {
  client: Client
  fid: string
}

/** Whether a word is a directory of this machine. */
export function isDirectoryHere(given: string): boolean {
  return statSync(given, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Whether a word is a data file of this machine, or standard input, and not the name of a grid. */
export async function isDataFileHere(given: string): Promise<boolean> {
  if (given === '-') return true
  if (!statSync(given, { throwIfNoEntry: false })?.isFile()) return false
  if (/^\.{0,2}[/\\]/.test(given)) return true
  const { isDataFile } = await import('../../ingest/index.ts')
  return isDataFile(given)
}

/**
 * The grid of a name, id or link; of a data file of this machine, a grid that ends with the command. Nothing is
 * uploaded. Throws `not_found`.
 */
export async function readableGrid(
  context: Context,
  given: string,
  options: ReadingOptions,
): Promise<Readable> {
  if (await isDataFileHere(given)) return gridOfFile(context, given, options)
  refuseReadingOptions(options)
  const client = await context.clientFor(given)
  return { client, fid: await resolve(client, given, 'grid') }
}

let opened = 0

/**
 * Reads a data file into a service in this process, with its warnings, unless they are said elsewhere. Throws `usage` if it
 * has several tables.
 */
export async function gridOfFile(
  context: Context,
  file: string,
  options: ReadingOptions,
  more: Pick<HeadersOf<'grids.upload'>, 'Checks'> = {},
  isSilent = false,
): Promise<Readable & Pick<ResultOf<'grids.upload'>, 'checks'>> {
  const { client, made } = await readHere(context, file, options, more, isSilent)
  if (made.file.filetype !== 'grid')
    throw new Problem('usage', `${nameOfInput(file)} contains several tables`, {
      hint: `Choose a sheet of a workbook with --sheet, or upload the file, which makes a folder with a grid for each: gridline upload ${file}`,
    })
  return { client, fid: made.file.fid, checks: made.checks }
}

/** The same, also for a file with several tables: it becomes a folder of grids. */
export async function readHere(
  context: Context,
  file: string,
  options: ReadingOptions,
  more: Pick<HeadersOf<'grids.upload'>, 'Checks'> = {},
  isSilent = false,
): Promise<{ client: Client; made: ResultOf<'grids.upload'> }> {
  const input = await openInput(file)
  const client = await context.temporaryClient()
  // Two files of the same name are two grids.
  const folder = String(++opened)
  const made = await client.call('grids.upload', {
    headers: { ...readingHeaders(options), ...more, 'Parent-Path': folder },
    plainHeaders: { [FILE_NAME_HEADER]: headerText(basename(nameOfInput(file))) },
    body: bodyOf(
      input,
      'application/octet-stream',
      () => {},
      () => {},
    ),
  })
  // What checks found is in their report.
  const warnings =
    more.Checks === undefined ? made.warnings : made.warnings.filter((text) => !text.startsWith('check: '))
  if (!isSilent) for (const warning of warnings) context.messages.warning(warning, nameOfInput(file))
  return { client, made }
}
