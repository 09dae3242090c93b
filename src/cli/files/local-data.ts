// Reads local files as temporary grids.
import { existsSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { type Client, encodeHeader, resolveFid } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import type { HeadersOf, ResultOf } from '../../contract/operations/index.ts'
import type { Context } from '../core/context.ts'
import { createBody, inputName, openInput } from './input.ts'
import { assertNoReadingOptions, type ReadingOptions, toReadingHeaders } from './parse-options.ts'

/** Grid with the client of its service. */
export interface ReadableGrid {
  client: Client
  fid: string
}

/** Returns whether a word is a local directory. */
export function isLocalDirectory(word: string): boolean {
  return statSync(word, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Returns whether a word is a local data file or standard input, not the name of a grid. */
export async function isLocalDataFile(word: string): Promise<boolean> {
  if (word === '-') return true
  if (!existsSync(word) || !statSync(word).isFile()) return false
  if (/^\.{0,2}[/\\]/.test(word)) return true
  const { isDataFile } = await import('../../ingest/index.ts')
  return isDataFile(word)
}

/**
 * Resolves a stored grid by name, id or link, or loads a local file into a temporary grid. Throws
 * `not_found`.
 */
export async function openGridOrFile(
  context: Context,
  word: string,
  options: ReadingOptions,
): Promise<ReadableGrid> {
  if (await isLocalDataFile(word)) return loadLocalGrid(context, word, options)
  assertNoReadingOptions(options)
  const client = await context.clientFor(word)
  return { client, fid: await resolveFid(client, word, 'grid') }
}

/** Number of files loaded by this process. */
let loadCount = 0

/**
 * Loads a local file into a temporary grid, and prints its warnings unless `isSilent`. Throws `usage` if it
 * contains several tables.
 */
export async function loadLocalGrid(
  context: Context,
  file: string,
  options: ReadingOptions,
  moreHeaders: Pick<HeadersOf<'grids.upload'>, 'Checks'> = {},
  isSilent = false,
): Promise<ReadableGrid & Pick<ResultOf<'grids.upload'>, 'checks'>> {
  const { client, uploaded } = await loadLocalFile(context, file, options, moreHeaders, isSilent)
  if (uploaded.file.filetype !== 'grid')
    throw new Problem('usage', `${inputName(file)} contains several tables`, {
      hint: `Choose a sheet of a workbook with --sheet, or upload the file as a folder of grids: gridline upload ${file}`,
    })
  return { client, fid: uploaded.file.fid, checks: uploaded.checks }
}

/** Like `loadLocalGrid`, but a file with several tables becomes a folder of grids. */
export async function loadLocalFile(
  context: Context,
  file: string,
  options: ReadingOptions,
  moreHeaders: Pick<HeadersOf<'grids.upload'>, 'Checks'> = {},
  isSilent = false,
): Promise<{ client: Client; uploaded: ResultOf<'grids.upload'> }> {
  const input = await openInput(file)
  const client = await context.temporaryClient()
  // Separate folders, because files can have the same name.
  const folder = String(++loadCount)
  const uploaded = await client.call('grids.upload', {
    headers: { ...toReadingHeaders(options), ...moreHeaders, 'Parent-Path': folder },
    plainHeaders: { [FILE_NAME_HEADER]: encodeHeader(basename(inputName(file))) },
    body: createBody(input),
  })
  // Failed checks are in the report.
  const warnings =
    moreHeaders.Checks === undefined
      ? uploaded.warnings
      : uploaded.warnings.filter((text) => !text.startsWith('check: '))
  if (!isSilent) context.messages.warnAll(warnings, inputName(file))
  return { client, uploaded }
}
