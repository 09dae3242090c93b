import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { headerText } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import { dataTypes } from '../../contract/operations/index.ts'
import type { Context } from '../context.ts'
import { defineCommand } from '../define.ts'
import { openInput } from '../input.ts'
import { type ReadingOptions, readingHeaders, readingOptions } from '../parse-options.ts'
import { Sender } from '../upload/send.ts'

/** How often the file is looked at, in ms. */
const LOOK_MS = 500

export const command = defineCommand({
  writes: true,
  arguments: '<file>',
  localFiles: true,
  options: [
    { flags: '--folder <path|id>', description: 'destination folder; missing folders are created' },
    { flags: '--public', description: 'make the grid public (readable by anyone)' },
    ...readingOptions,
  ],
  examples: ['gridline watch results.csv', 'gridline watch sensor.csv --folder Live --public'],
  async run(context, [file], options) {
    await openInput(file)
    const { folder, public: isPublic } = options
    const reading = readingHeaders(options)
    const settings = { folder, public: isPublic, onConflict: 'replace' as const, yes: true, reading }
    let known: Known | undefined
    for (;;) {
      const stats = statSync(file, { throwIfNoEntry: false })
      if (!stats) {
        if (!known) throw new Problem('no_such_file', `no such file: ${file}`)
      } else if (!known || stats.size !== known.size || stats.mtimeMs !== known.mtimeMs) {
        known = await sent(context, file, settings, options, known).catch((error) => {
          // A file that is being written can be wrong for a moment.
          if (!(error instanceof Problem) || !known || error.exit !== 7) throw error
          context.messages.warning(`${file}: ${error.message}; waiting for the next change`)
          return { ...known!, size: stats.size, mtimeMs: stats.mtimeMs, sum: '' }
        })
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  },
})

/** What was sent last. */
interface Known {
  fid: string
  size: number
  mtimeMs: number
  sum: string
}

/** Sends a file: only its new lines if it has grown, and is otherwise the same. */
async function sent(
  context: Context,
  file: string,
  settings: ConstructorParameters<typeof Sender>[1],
  options: ReadingOptions,
  known: Known | undefined,
): Promise<Known> {
  const { mtimeMs } = statSync(file)
  const bytes = readFileSync(file)
  const sum = (size: number): string => createHash('sha256').update(bytes.subarray(0, size)).digest('hex')
  const rows =
    known && bytes.length > known.size && sum(known.size) === known.sum
      ? appended(file, bytes, known.size, options)
      : undefined
  if (known && rows) {
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
    context.messages.note(`${file}: ${rows_added} rows appended, ${row_count} rows`)
    return {
      fid: known.fid,
      size: known.size + rows.bytes.length,
      mtimeMs,
      sum: sum(known.size + rows.bytes.length),
    }
  }
  const {
    file: grid,
    warnings,
    action,
  } = await new Sender(context, settings, false).send({ file, folders: [] })
  for (const warning of warnings) context.messages.warning(`${file}: ${warning}`)
  const { fid, web_url } = grid
  context.messages.note(`${file}: ${action ?? 'created'}, ${web_url}`)
  return { fid, size: bytes.length, mtimeMs, sum: sum(bytes.length) }
}

/** Whole new lines of a plain text file whose rows can be appended; undefined for others. */
function appended(
  file: string,
  bytes: Buffer,
  from: number,
  { delimiter }: ReadingOptions,
): { bytes: Buffer; type: string; delimiter: string | undefined } | undefined {
  // A line that was not whole was sent as it was.
  if (from === 0 || bytes[from - 1] !== 0x0a) return undefined
  const end = bytes.lastIndexOf(0x0a) + 1
  if (end <= from) return undefined
  const rows = bytes.subarray(from, end)
  if (/\.(ndjson|jsonl)$/i.test(file)) return { bytes: rows, type: dataTypes.ndjson, delimiter: undefined }
  const header = bytes.toString('utf8', 0, bytes.indexOf(0x0a))
  const given =
    delimiter ?? (/\.(tsv|tab)$/i.test(file) ? '\t' : [',', ';', '\t'].find((one) => header.includes(one)))
  if (given === undefined || !/\.(csv|tsv|tab|txt)$/i.test(file)) return undefined
  return { bytes: rows, type: dataTypes.csv, delimiter: encodeURIComponent(given) }
}
