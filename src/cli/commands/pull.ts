import {
  createWriteStream,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { contentFormats } from '../../contract/operations/index.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { sortOption, whereOption } from '../../contract/row-options.ts'
import { writePrivately } from '../config/private-file.ts'
import { defineCommand } from '../core/define.ts'
import { array } from '../core/prints.ts'
import { runEach } from '../files/batch.ts'
import { safeName } from '../files/local-names.ts'
import { resolveTargets } from '../files/targets.ts'
import { type Found, filesBelow } from '../files/tree.ts'
import type { TableView } from '../output/view.ts'

const JOBS = 4

const view: TableView = {
  id: 'path',
  columns: [
    { field: 'path', title: 'PATH' },
    { field: 'fid', title: 'FID' },
    { field: 'action', title: 'ACTION' },
  ],
}

type Format = (typeof contentFormats)[number]

export const command = defineCommand({
  prints: array([], {
    path: 'the local file',
    fid: 'the id',
    action: 'downloaded, unchanged or would download',
  }),
  arguments: '<file...>',
  usage: '<file...> <directory>',
  completes: ['file', ['file', 'local']],
  options: [
    { flags: '--format <format>', description: 'format of grids (default: csv)', choices: contentFormats },
    {
      flags: '--jobs <n>',
      integer: { max: 64 },
      description: 'files that are downloaded at once (default: 4)',
    },
    {
      flags: '--force',
      description: 'download all files, also those that are unchanged or were changed here',
    },
    whereOption,
    sortOption,
    { flags: '--dry-run', description: 'show what would be downloaded, without writing anything' },
  ],
  examples: [
    'gridline pull sales .',
    'gridline pull Reports backup',
    "gridline pull 'Reports/2024*' data --format ndjson --jobs 8",
  ],
  async run(context, given, options) {
    const directory = given.at(-1)!
    if (given.length < 2)
      throw new Problem('usage', 'pull needs a file and a directory', {
        hint: `For example: gridline pull ${directory} .`,
      })
    const client = await context.client()
    const { files, failures } = await resolveTargets(client, given.slice(0, -1), { read: true })
    const found: Found[] = []
    for (const { fid } of files)
      found.push(...(await filesBelow(client, await client.call('files.get', { fid }))))
    const format = options.format ?? 'csv'
    const { where, sort } = options
    const query = { where, sort }
    const items = found
      .filter(({ file }) => file.filetype === 'grid' || file.filetype === 'plot')
      .map(({ file, folders }) => {
        const extension = file.filetype === 'grid' ? format : 'json'
        const names = [...folders, `${file.filename}.${extension}`].map(safeName)
        return { file, of: names.join('/'), path: join(directory, ...names) }
      })
    const paths = new Set<string>()
    const twice = items.find(({ path }) => paths.size === paths.add(path).size)
    if (twice) throw new Problem('conflict', `two files would be written to ${twice.path}`)
    for (const { file, folders } of found)
      if (file.filetype === 'fold' && !options.dryRun) {
        const folder = join(directory, ...[...folders, file.filename].map(safeName))
        assertNoLink(folder, directory)
        mkdirSync(folder, { recursive: true })
      }
    const state = new Downloaded(directory)
    const done = await runEach(
      items,
      async ({ file, path }) => {
        const { fid } = file
        const of = file.filetype === 'grid' ? query : {}
        if (!options.force && state.isCurrent(path, file, of)) return { path, fid, action: 'unchanged' }
        if (!options.force && !state.isOurs(path))
          throw new Problem('conflict', `${path} was changed here, or was not downloaded by pull`, {
            hint: 'Move it away, or use --force to replace it.',
          })
        if (options.dryRun) return { path, fid, action: 'would download' }
        await download(client, file, { format, ...query }, path, directory)
        state.note(path, of)
        return { path, fid, action: 'downloaded' }
      },
      options.jobs ?? JOBS,
    )
    if (!options.dryRun && done.many.length > 0) state.save()
    const all = [...failures, ...done.failures]
    if (done.many.length === 0 && all.length === 1) throw all[0].problem
    return { many: done.many, view, failures: all, empty: 'Nothing to download.' }
  },
})

/** Which rows of a grid were downloaded. */
interface Rows {
  where?: string
  sort?: string
}

function entryOf({ size, mtimeMs }: { size: number; mtimeMs: number }, { where, sort }: Rows): string {
  const chosen =
    where === undefined && sort === undefined ? '' : ` ${JSON.stringify([where ?? null, sort ?? null])}`
  return `${size} ${mtimeMs}${chosen}`
}

/** What was downloaded into a directory: a file that has changed since is not replaced. */
class Downloaded {
  private readonly file: string
  private readonly entries: Record<string, string>

  constructor(directory: string) {
    this.file = join(directory, '.gridline-pull.json')
    try {
      this.entries = JSON.parse(readFileSync(this.file, 'utf8')) as Record<string, string>
    } catch {
      this.entries = {}
    }
  }

  /**
   * Whether a file is there in its latest version, with the same rows: it has the time of the last change on the server.
   */
  isCurrent(path: string, { date_modified }: FileMeta, rows: Rows): boolean {
    const there = statSync(path, { throwIfNoEntry: false })
    if (!there || this.entries[this.key(path)] !== entryOf(there, rows)) return false
    return Math.abs(there.mtimeMs - Date.parse(date_modified)) < 1
  }

  /** Whether a file is absent, or as it was downloaded. */
  isOurs(path: string): boolean {
    const there = statSync(path, { throwIfNoEntry: false })
    return !there || (this.entries[this.key(path)] ?? '').split(' ', 2).join(' ') === entryOf(there, {})
  }

  note(path: string, rows: Rows): void {
    this.entries[this.key(path)] = entryOf(statSync(path), rows)
  }

  save(): void {
    writePrivately(this.file, `${JSON.stringify(this.entries)}\n`)
  }

  private key(path: string): string {
    return relative(dirname(this.file), path)
  }
}

/** Throws if a folder below the directory is a link: names of the server must not lead out of it. */
function assertNoLink(folder: string, directory: string): void {
  const top = resolve(directory)
  for (let at = resolve(folder); at !== top && at !== dirname(at); at = dirname(at))
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new Problem('conflict', `${at} is a symbolic link; nothing is written through it`, {
        hint: 'Remove it, or pull into another directory.',
      })
}

/** Downloads a file under another name first, so that a broken download leaves what was there. */
async function download(
  client: Client,
  { fid, filetype, date_modified }: FileMeta,
  query: { format: Format; where?: string; sort?: string },
  path: string,
  directory: string,
): Promise<void> {
  assertNoLink(dirname(path), directory)
  mkdirSync(dirname(path), { recursive: true })
  const response =
    filetype === 'grid'
      ? await client.response('grids.content', { fid, query })
      : await client.response('plots.content', { fid, query: { inline_data: true } })
  const part = `${path}.${process.pid}.part`
  try {
    await pipeline(Readable.from(response.bytes()), createWriteStream(part))
    const at = new Date(date_modified)
    utimesSync(part, at, at)
    renameSync(part, path)
  } catch (error) {
    rmSync(part, { force: true })
    if (error instanceof Problem) throw error
    throw new Problem('failed', `cannot write ${path}: ${(error as Error).message}`)
  }
}
