// `gridline admin blobs`: lists, relocates and moves blob stores.
import { Problem } from '../../contract/errors.ts'
import { formatBytes } from '../../contract/limits.ts'
import { formatCount } from '../../contract/message-texts.ts'
import { type CommandEntry, defineCommand, dryRunOption, subcommand } from '../core/define.ts'
import { arrayOf, objectOf } from '../core/output-schema.ts'
import type { Failure } from '../output/failure.ts'
import { databaseOption, displayUrl, withStore } from './admin.store.ts'

const fields = {
  place: 'row, sql, or the URL of a folder or bucket',
  is_current: 'whether new blobs are stored here',
  objects: 'number of objects',
  bytes: 'stored size in bytes',
}

const list = defineCommand({
  output: arrayOf([], fields),
  lists: {},
  options: [databaseOption],
  examples: ['gridline admin blobs list', 'gridline admin blobs list --json place,bytes'],
  async run(context, _, { database: url }) {
    const stores = await withStore(context, url, (_service, store) => store.locations.listLocations())
    return {
      items: stores,
      view: {
        id: 'place',
        columns: [
          { field: 'place', title: 'PLACE' },
          {
            field: 'is_current',
            title: 'NEW BYTES',
            format: (isCurrent: boolean) => (isCurrent ? 'yes' : ''),
          },
          { field: 'objects', title: 'OBJECTS', align: 'right' as const },
          { field: 'bytes', title: 'SIZE', align: 'right' as const, format: formatBytes },
        ],
      },
    }
  },
})

/** Interval between progress notes, in ms. */
const PROGRESS_INTERVAL_MS = 10_000

const move = defineCommand({
  output: objectOf([], {
    database: 'the URL of the database',
    place: 'the new location',
    objects: 'number of objects moved',
  }),
  options: [
    {
      flags: '--to <place>',
      description:
        'destination: sql (the database), file:DIR or s3://bucket/prefix?endpoint=https://…&region=…',
    },
    dryRunOption,
    databaseOption,
  ],
  examples: [
    'gridline admin blobs move --to file:/srv/gridline/blobs --database postgres://gridline@db/gridline',
    'gridline admin blobs move --to s3://charts/gridline?region=eu-central-1',
  ],
  async run(context, _, { to, dryRun: dry, database: url }) {
    if (to === undefined)
      throw new Problem('usage', '--to is missing', { hint: 'Use --to sql, --to file:DIR or --to s3://…' })
    const { messages } = context
    const failures: Failure[] = []
    const result = await withStore(context, url, async (service, store) => {
      const target = service.normalizeAddress(to)
      const sources = (await store.locations.listLocations()).filter(
        ({ place: from }) => from !== 'row' && from !== target,
      )
      const total = sources.reduce((sum, source) => sum + source.objects, 0)
      if (dry) {
        await store.locations.openStoreAt(to)
        messages.line(`Dry run, nothing was changed. It would move ${total} objects to ${to}.`)
        return undefined
      }
      let moved = 0
      let lastNoteAt = performance.now()
      return service.moveBlobs(store, to, {
        onMoved: () => {
          moved++
          if (performance.now() - lastNoteAt < PROGRESS_INTERVAL_MS) return
          lastNoteAt = performance.now()
          messages.note(`${moved} of ${total} objects moved`)
        },
        onLost: (owner, problem) => failures.push({ subject: owner, problem }),
      })
    })
    if (result === undefined) return undefined
    const { objects, unfinished } = result
    if (unfinished > 0)
      messages.warning(
        `uploads that still run have ${formatCount(unfinished, 'object')} at the former location: keep it, and run this again when they have ended`,
      )
    messages.note(
      'The server, or admin compact, removes the moved objects from their former location a day later.',
    )
    return {
      item: { database: displayUrl(context, url), place: to, objects },
      view: {
        columns: [
          { field: 'place', title: 'PLACE' },
          { field: 'objects', title: 'MOVED', align: 'right' as const },
        ],
      },
      failures,
    }
  },
})

const relocate = defineCommand({
  output: objectOf([], { database: 'the URL of the database', place: 'the new location' }),
  options: [
    { flags: '--to <place>', description: 'new location of the folder or bucket, or of its copy' },
    dryRunOption,
    databaseOption,
  ],
  examples: [
    'gridline admin blobs relocate --to file:/mnt/new/blobs --database postgres://gridline@db/gridline',
    'gridline admin blobs relocate --to s3://copy/gridline?region=eu-central-1',
  ],
  async run(context, _, { to, dryRun: dry, database: url }) {
    if (to === undefined)
      throw new Problem('usage', '--to is missing', { hint: 'Use --to file:DIR or --to s3://…' })
    const from = await withStore(context, url, async (_service, { locations }) => {
      const formerUrl = await locations.currentAddress()
      if (!dry) await locations.changeAddress(to)
      return formerUrl
    })
    if (dry) {
      context.messages.line(`Dry run, nothing was changed. It would read the blobs of ${from} from ${to}.`)
      return undefined
    }
    context.messages.note(`Nothing was changed at ${from}. Restart the running servers of this database.`)
    return {
      item: { database: displayUrl(context, url), place: to },
      view: { columns: [{ field: 'place', title: 'PLACE' }] },
    }
  },
})

/** Subcommands of `admin blobs`. */
export const blobCommands: readonly CommandEntry[] = [
  subcommand('list', 'Show storage locations and sizes', list, ['ls']),
  subcommand('relocate', 'Record a new address of the folder or bucket', relocate),
  subcommand('move', 'Move all blobs to the database, a folder or a bucket, while servers run', move),
]
