import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { headerText } from '../../client/index.ts'
import { counted } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'
import { delimiterByName, formatByName } from '../../contract/formats.ts'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import { dataTypes } from '../../contract/operations/index.ts'
import type { Context } from '../core/context.ts'
import { defineCommand } from '../core/define.ts'
import { other } from '../core/prints.ts'
import { openInput } from '../files/input.ts'
import { type ReadingOptions, readingHeaders, readingOptions } from '../files/parse-options.ts'
import { Sender } from '../upload/send.ts'

/** How often the file is looked at, in ms. */
const LOOK_MS = 500

export const command = defineCommand({
  prints: other('nothing'),
  writes: true,
  versions: true,
  arguments: '<file>',
  completes: ['local'],
  options: [
    { flags: '--name <name>', description: 'name of the grid (default: file name without its extension)' },
    { flags: '--folder <path|id>', description: 'destination folder; missing folders are created' },
    { flags: '--public', description: 'make the grid public (readable by anyone)' },
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
    const reading = readingHeaders(options)
    const settings = { name, folder, public: isPublic, onConflict, yes: true, reading }
    let known: Known | undefined
    let isMissing = false
    for (;;) {
      const stats = statSync(file, { throwIfNoEntry: false })
      if (!stats) {
        if (!known) throw new Problem('no_such_file', `no such file: ${file}`)
        if (!isMissing) context.messages.note(`${file} was removed; waiting for it to come back`)
        isMissing = true
      } else if (!known || known.seen !== seenOf(stats)) {
        known = await sent(
          context,
          file,
          known ? { ...settings, onConflict: 'replace' } : settings,
          options,
          known,
        ).catch((error) => {
          // A file that is being written can be wrong for a moment.
          if (!(error instanceof Problem) || !known || error.exit !== 7) throw error
          context.messages.warning(`${error.message}; waiting for the next change`, file)
          return { ...known!, sum: '', seen: seenOf(stats) }
        })
      }
      if (stats) isMissing = false
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  },
})

function seenOf({ size, mtimeMs }: { size: number; mtimeMs: number }): string {
  return `${size} ${mtimeMs}`
}

/** Options about lines of the file, which new rows do not have. */
function hasLines({ skip, comment, header }: ReadingOptions): boolean {
  return skip !== undefined || comment !== undefined || header !== undefined
}

/** What was sent last. */
interface Known {
  fid: string
  /** Bytes that were sent, and their hash. */
  size: number
  sum: string
  /** Size and time of the file when it was looked at last. */
  seen: string
}

/** Sends a file: only its new lines if it has grown, and is otherwise the same. */
async function sent(
  context: Context,
  file: string,
  settings: ConstructorParameters<typeof Sender>[1],
  options: ReadingOptions,
  known: Known | undefined,
): Promise<Known> {
  const seen = seenOf(statSync(file))
  const bytes = readFileSync(file)
  const sum = (size: number): string => createHash('sha256').update(bytes.subarray(0, size)).digest('hex')
  const hasGrown = known && bytes.length > known.size && sum(known.size) === known.sum
  const rows = hasGrown && !hasLines(options) ? appended(file, bytes, known.size, options) : undefined
  if (known && rows === 'wait') return { ...known, seen }
  if (known && rows && rows !== 'wait') {
    try {
      return await append(context, file, known, rows, options, sum, seen)
    } catch (error) {
      if (!(error instanceof Problem) || error.exit !== 7) throw error
      // What cannot be appended may be right as a part of the file.
    }
  }
  const {
    file: grid,
    warnings,
    action,
  } = await new Sender(context, settings, known === undefined).send({
    file,
    folders: [],
  })
  for (const warning of warnings) context.messages.warning(warning, file)
  const { fid, web_url } = grid
  context.messages.note(`${file}: ${action ?? 'created'}, ${web_url}`)
  return { fid, size: bytes.length, seen, sum: sum(bytes.length) }
}

async function append(
  context: Context,
  file: string,
  known: Known,
  rows: Appended,
  options: ReadingOptions,
  sum: (size: number) => string,
  seen: string,
): Promise<Known> {
  const client = await context.client()
  const { rows_added, row_count } = await client.call('rows.append', {
    fid: known.fid,
    headers: {
      ...readingHeaders(options),
      Delimiter: rows.delimiter,
      Header: rows.delimiter === undefined ? undefined : false,
    },
    plainHeaders: { [FILE_NAME_HEADER]: headerText(basename(file)) },
    body: {
      type: rows.type,
      repeatable: true,
      async *open() {
        yield rows.bytes
      },
    },
  })
  context.messages.note(`${file}: ${counted(rows_added, 'row')} appended, ${row_count} in total`)
  const size = known.size + rows.bytes.length
  return { fid: known.fid, size, seen, sum: sum(size) }
}

type Appended = { bytes: Buffer; type: string; delimiter: string | undefined }

/**
 * New lines of a plain text file whose rows can be appended: `wait` while the last line is not whole, undefined for
 * changes that need the whole file.
 */
function appended(
  file: string,
  bytes: Buffer,
  from: number,
  { delimiter }: ReadingOptions,
): Appended | 'wait' | undefined {
  // A line that was not whole was sent as it was.
  if (from === 0 || bytes[from - 1] !== 0x0a) return undefined
  const end = bytes.lastIndexOf(0x0a) + 1
  if (end <= from) return 'wait'
  const rows = bytes.subarray(from, end)
  const named = formatByName(file)
  if (named === 'ndjson') return { bytes: rows, type: dataTypes.ndjson, delimiter: undefined }
  // Cells with line ends, and quotes that are text, are for the reader of whole files.
  if ((named !== 'csv' && named !== 'tsv' && named !== 'text') || rows.includes(0x22)) return undefined
  const header = bytes.toString('utf8', 0, bytes.indexOf(0x0a))
  const prescribed = delimiterByName(file)
  const found = prescribed ? [prescribed] : [',', ';', '\t', '|'].filter((one) => header.includes(one))
  const given = delimiter ?? (found.length === 1 ? found[0] : undefined)
  if (!given) return undefined
  return { bytes: rows, type: dataTypes.csv, delimiter: encodeURIComponent(given) }
}
