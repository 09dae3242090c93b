// Reads local files as temporary grids.
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { type Client, headerText, resolve } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import type { HeadersOf, ResultOf } from '../../contract/operations/index.ts'
import type { Context } from '../core/context.ts'
import { bodyOf, nameOfInput, openInput } from './input.ts'
import { type ReadingOptions, readingHeaders, refuseReadingOptions } from './parse-options.ts'

/** Grid with the client of its service. */
export interface Readable {
  client: Client
  fid: string
}

/** Returns whether a word is a local directory. */
export function isDirectoryHere(given: string): boolean {
  return statSync(given, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Returns whether a word is a local data file or standard input, not the name of a grid. */
export async function isDataFileHere(given: string): Promise<boolean> {
  if (given === '-') return true
  if (!statSync(given, { throwIfNoEntry: false })?.isFile()) return false
  if (/^\.{0,2}[/\\]/.test(given)) return true
  const { isDataFile } = await import('../../ingest/index.ts')
  return isDataFile(given)
}

/**
 * Resolves a stored grid by name, id or link, or loads a local file into a temporary grid. Throws
 * `not_found`.
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

/** Number of files loaded by this process. */
let opened = 0

/**
 * Loads a local file into a temporary grid, and prints its warnings unless `isSilent`. Throws `usage` if it
 * contains several tables.
 */
export async function gridOfFile(
  context: Context,
  file: string,
  options: ReadingOptions,
  moreHeaders: Pick<HeadersOf<'grids.upload'>, 'Checks'> = {},
  isSilent = false,
): Promise<Readable & Pick<ResultOf<'grids.upload'>, 'checks'>> {
  const { client, made } = await readHere(context, file, options, moreHeaders, isSilent)
  if (made.file.filetype !== 'grid')
    throw new Problem('usage', `${nameOfInput(file)} contains several tables`, {
      hint: `Choose a sheet of a workbook with --sheet, or upload the file as a folder of grids: gridline upload ${file}`,
    })
  return { client, fid: made.file.fid, checks: made.checks }
}

/** Like `loadLocalGrid`, but a file with several tables becomes a folder of grids. */
export async function readHere(
  context: Context,
  file: string,
  options: ReadingOptions,
  moreHeaders: Pick<HeadersOf<'grids.upload'>, 'Checks'> = {},
  isSilent = false,
): Promise<{ client: Client; made: ResultOf<'grids.upload'> }> {
  const input = await openInput(file)
  const client = await context.temporaryClient()
  // Separate folders, because files can have the same name.
  const folder = String(++opened)
  const uploaded = await client.call('grids.upload', {
    headers: { ...readingHeaders(options), ...moreHeaders, 'Parent-Path': folder },
    plainHeaders: { [FILE_NAME_HEADER]: headerText(basename(nameOfInput(file))) },
    body: bodyOf(
      input,
      'application/octet-stream',
      () => {},
      () => {},
    ),
  })
  // Failed checks are in the report.
  const warnings =
    moreHeaders.Checks === undefined
      ? uploaded.warnings
      : uploaded.warnings.filter((text) => !text.startsWith('check: '))
  if (!isSilent) for (const warning of warnings) context.messages.warning(warning, nameOfInput(file))
  return { client, made: uploaded }
}
