// `gridline watch`: uploads a file each time it changes, or appends its new rows.

import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { encodeHeader } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { delimiterOfFileName, formatOfFileName } from '../../contract/formats.ts'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import { formatCount } from '../../contract/message-texts.ts'
import { dataTypes } from '../../contract/operations/index.ts'
import type { Context } from '../core/context.ts'
import { defineCommand } from '../core/define.ts'
import { otherOutput } from '../core/output-schema.ts'
import { openInput } from '../files/input.ts'
import { type ReadingOptions, readingOptions, toReadingHeaders } from '../files/parse-options.ts'
import { destinationOptions } from '../upload/destination.ts'
import { Sender } from '../upload/send.ts'

/** Polling interval, in ms. */
const POLL_MS = 500

export const command = defineCommand({
  output: otherOutput('nothing'),
  writes: true,
  createsVersions: true,
  arguments: '<file>',
  completion: ['local'],
  options: [
    ...destinationOptions,
    {
      flags: '--on-conflict <rule>',
      description: 'if the name is taken at the start: fail (default) or replace (keeps the id and link)',
      choices: ['fail', 'replace'],
    },
    ...readingOptions,
  ],
  examples: ['gridline watch results.csv', 'gridline watch sensor.csv --folder Live --public'],
  async run(context, [file], options) {
    await openInput(file)
    const { name, folder, public: isPublic, onConflict = 'fail' } = options
    const reading = toReadingHeaders(options)
    const settings = { name, folder, public: isPublic, onConflict, yes: true, reading }
    let lastUpload: UploadState | undefined
    let isMissing = false
    for (;;) {
      const stats = statSync(file, { throwIfNoEntry: false })
      if (!stats) {
        if (!lastUpload) throw new Problem('no_such_file', `no such file: ${file}`)
        if (!isMissing) context.messages.note(`${file} was removed; waiting for it to come back`)
        isMissing = true
      } else if (!lastUpload || lastUpload.fileState !== fileStateOf(stats)) {
        const previous = lastUpload
        lastUpload = await uploadChanges(
          context,
          file,
          lastUpload ? { ...settings, onConflict: 'replace' } : settings,
          options,
          lastUpload,
        ).catch((error): UploadState => {
          // A file that is being written can be temporarily invalid.
          if (!(error instanceof Problem) || !previous || error.exit !== 7) throw error
          context.messages.warning(`${error.message}; waiting for the next change`, file)
          return { ...previous, sha256: '', fileState: fileStateOf(stats) }
        })
      }
      if (stats) isMissing = false
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  },
})

/** Returns size and modification time, which identify a state of the file. */
function fileStateOf({ size, mtimeMs }: { size: number; mtimeMs: number }): string {
  return `${size} ${mtimeMs}`
}

/** Returns whether options refer to lines of the file, so that new rows cannot be read alone. */
function hasLines({ skip, skipLast, comment, header }: ReadingOptions): boolean {
  return [skip, skipLast, comment, header].some((option) => option !== undefined)
}

/** State of the last upload. */
interface UploadState {
  fid: string
  /** Names of the columns; undefined if the file was not read as one grid. */
  columns: readonly string[] | undefined
  /** Number of uploaded bytes, and their SHA-256. */
  size: number
  sha256: string
  /** Size and time of the file at the last poll. */
  fileState: string
}

/** Uploads a file. If only lines were added, appends these. */
async function uploadChanges(
  context: Context,
  file: string,
  settings: ConstructorParameters<typeof Sender>[1],
  options: ReadingOptions,
  lastUpload: UploadState | undefined,
): Promise<UploadState> {
  const seen = fileStateOf(statSync(file))
  const bytes = readFileSync(file)
  const sum = (size: number): string => createHash('sha256').update(bytes.subarray(0, size)).digest('hex')
  const hasGrown = lastUpload && bytes.length > lastUpload.size && sum(lastUpload.size) === lastUpload.sha256
  const newRows =
    hasGrown && !hasLines(options) ? extractNewRows(file, bytes, lastUpload, options) : undefined
  if (lastUpload && newRows === 'wait') return { ...lastUpload, fileState: seen }
  if (lastUpload && newRows && newRows !== 'wait') {
    try {
      await appendRows(context, file, lastUpload.fid, newRows, options)
      const size = lastUpload.size + newRows.size
      return { ...lastUpload, size, fileState: seen, sha256: sum(size) }
    } catch (error) {
      if (!(error instanceof Problem) || error.exit !== 7) throw error
      // Rows that cannot be appended can be valid in the whole file.
    }
  }
  const {
    file: grid,
    warnings,
    action,
  } = await new Sender(context, settings, lastUpload === undefined).send(
    { file, folders: [] },
    undefined,
    bytes,
  )
  context.messages.warnAll(warnings, file)
  const { fid, web_url } = grid
  context.messages.note(`${file}: ${action ?? 'created'}, ${web_url}`)
  const columns = 'cols' in grid ? grid.cols.map((column) => column.name) : undefined
  return { fid, columns, size: bytes.length, fileState: seen, sha256: sum(bytes.length) }
}

/** Appends new rows. */
async function appendRows(
  context: Context,
  file: string,
  fid: string,
  rows: NewRows,
  options: ReadingOptions,
): Promise<void> {
  const client = await context.client()
  const { rows_added, row_count } = await client.call('rows.append', {
    fid,
    headers: {
      ...toReadingHeaders(options),
      Delimiter: rows.delimiter,
      Header: rows.delimiter === undefined ? undefined : true,
    },
    plainHeaders: { [FILE_NAME_HEADER]: encodeHeader(basename(file)) },
    body: {
      type: rows.type,
      repeatable: true,
      async *open() {
        yield rows.bytes
      },
    },
  })
  context.messages.note(`${file}: ${formatCount(rows_added, 'row')} appended, ${row_count} in total`)
}

/** New rows with their format: CSV with the header of the file, since columns of the grid can be moved. */
type NewRows = { bytes: Buffer; size: number; type: string; delimiter: string | undefined }

/**
 * Returns new complete lines whose rows can be appended; `wait` while the last line is incomplete; undefined
 * if the whole file must be uploaded.
 */
function extractNewRows(
  file: string,
  bytes: Buffer,
  { size: from, columns }: UploadState,
  { delimiter }: ReadingOptions,
): NewRows | 'wait' | undefined {
  // An incomplete last line was uploaded as a row.
  if (from === 0 || bytes[from - 1] !== 0x0a) return undefined
  const end = bytes.lastIndexOf(0x0a) + 1
  if (end <= from) return 'wait'
  const rows = bytes.subarray(from, end)
  const format = formatOfFileName(file)
  if (format === 'ndjson')
    return { bytes: rows, size: rows.length, type: dataTypes.ndjson, delimiter: undefined }
  // Cells with line breaks, literal quotes and other encodings need the whole file.
  if ((format !== 'csv' && format !== 'tsv' && format !== 'text') || rows.includes(0x22) || !isUtf8(bytes))
    return undefined
  const header = bytes.subarray(0, bytes.indexOf(0x0a) + 1)
  const candidates = [delimiter ?? delimiterOfFileName(file) ?? [',', ';', '\t', '|']].flat()
  const used = candidates.find((candidate) => hasNames(header, candidate, columns))
  if (used === undefined) return undefined
  return {
    bytes: Buffer.concat([header, rows]),
    size: rows.length,
    type: dataTypes.csv,
    delimiter: encodeURIComponent(used),
  }
}

/** Returns whether the first line has just the names of the columns: there is no text above the table. */
function hasNames(line: Buffer, delimiter: string, columns: readonly string[] | undefined): boolean {
  const names = line
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim()
    .split(delimiter)
  return (
    columns !== undefined &&
    names.length === columns.length &&
    names.every((name, k) => name.trim() === columns[k])
  )
}
