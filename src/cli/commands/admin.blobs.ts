import { Problem } from '../../contract/errors.ts'
import { bytesText } from '../../contract/limits.ts'
import { type CommandEntry, defineCommand, dryRun, subcommand } from '../core/define.ts'
import { array, object } from '../core/prints.ts'
import type { Failure } from '../output/failure.ts'
import { database, onStore, place } from './admin.store.ts'

const fields = {
  place: 'row, sql, or the address of a folder or bucket',
  is_current: 'whether new bytes go there',
  objects: 'how many there are',
  bytes: 'their size as they are stored',
}

const list = defineCommand({
  prints: array([], fields),
  lists: {},
  options: [database],
  examples: ['gridline admin blobs list', 'gridline admin blobs list --json place,bytes'],
  async run(context, _, { database: url }) {
    const many = await onStore(context, url, (_service, store) => store.places.list())
    return {
      many,
      view: {
        id: 'place',
        columns: [
          { field: 'place', title: 'PLACE' },
          { field: 'is_current', title: 'NEW BYTES', format: (is: boolean) => (is ? 'yes' : '') },
          { field: 'objects', title: 'OBJECTS', align: 'right' as const },
          { field: 'bytes', title: 'SIZE', align: 'right' as const, format: bytesText },
        ],
      },
    }
  },
})

/** How often a running command says how far it is, in ms. */
const SAID_EVERY = 10_000

const move = defineCommand({
  prints: object([], {
    database: 'the database',
    place: 'where the bytes are now',
    objects: 'how many were moved',
  }),
  options: [
    {
      flags: '--to <place>',
      description: 'sql (the database), file:DIR or s3://bucket/prefix?endpoint=https://…&region=…',
    },
    dryRun,
    database,
  ],
  examples: [
    'gridline admin blobs move --to file:/srv/gridline/blobs --database postgres://gridline@db/gridline',
    'gridline admin blobs move --to s3://charts/gridline?region=eu-central-1',
  ],
  async run(context, _, { to, dryRun: dry, database: url }) {
    if (to === undefined)
      throw new Problem('usage', 'no place given', { hint: 'Use --to sql, --to file:DIR or --to s3://…' })
    const { messages } = context
    const failures: Failure[] = []
    const objects = await onStore(context, url, async (service, store) => {
      const target = service.wholeAddress(to)
      const waiting = (await store.places.list()).filter(
        ({ place: from }) => from !== 'row' && from !== target,
      )
      const all = waiting.reduce((sum, one) => sum + one.objects, 0)
      if (dry) {
        await store.places.open(to)
        messages.line(`Dry run, nothing was changed. It would move ${all} objects to ${to}.`)
        return undefined
      }
      let moved = 0
      let said = performance.now()
      return service.moveBlobs(store, to, {
        onMoved: () => {
          moved++
          if (performance.now() - said < SAID_EVERY) return
          said = performance.now()
          messages.note(`${moved} of ${all} objects moved`)
        },
        onLost: (owner, problem) => failures.push({ of: owner, problem }),
      })
    })
    if (objects === undefined) return undefined
    messages.note(
      'What was moved is removed from its former place a day later, by the server or with admin compact.',
    )
    return {
      one: { database: place(context, url), place: to, objects },
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
  prints: object([], { database: 'the database', place: 'where the bytes are' }),
  options: [
    { flags: '--to <place>', description: 'the address at which the folder or bucket, or its copy, is now' },
    dryRun,
    database,
  ],
  examples: [
    'gridline admin blobs relocate --to file:/mnt/new/blobs --database postgres://gridline@db/gridline',
    'gridline admin blobs relocate --to s3://copy/gridline?region=eu-central-1',
  ],
  async run(context, _, { to, dryRun: dry, database: url }) {
    if (to === undefined)
      throw new Problem('usage', 'no place given', { hint: 'Use --to file:DIR or --to s3://…' })
    const from = await onStore(context, url, async (_service, { places }) => {
      const before = await places.address()
      if (!dry) await places.relocate(to)
      return before
    })
    if (dry) {
      context.messages.line(`Dry run, nothing was changed. It would look for the bytes of ${from} at ${to}.`)
      return undefined
    }
    context.messages.note(
      `Nothing was changed at ${from}. Restart servers of this database that are running.`,
    )
    return {
      one: { database: place(context, url), place: to },
      view: { columns: [{ field: 'place', title: 'PLACE' }] },
    }
  },
})

/** Where bytes are. */
export const blobCommands: readonly CommandEntry[] = [
  subcommand('list', 'Show where bytes are, and how many', list, ['ls']),
  subcommand('relocate', 'Say that the folder or bucket, or a copy of it, is at another address', relocate),
  subcommand('move', 'Move all bytes to the database, a folder or a bucket, while servers serve', move),
]
