import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { filetypeName } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { defineCommand } from '../core/define.ts'
import { array } from '../core/prints.ts'
import { confirm } from '../core/prompt.ts'
import { runOnTargets } from '../files/batch.ts'
import { resolveTargets } from '../files/targets.ts'
import type { Failure } from '../output/failure.ts'
import type { TableView } from '../output/view.ts'

/** Maximum number of names in the confirmation question. */
const MAX_NAMED = 5

const view: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'filetype', title: 'TYPE', format: filetypeName },
  ],
}

export const command = defineCommand({
  prints: array('File'),
  writes: true,
  arguments: '<file...>',
  options: [{ flags: '-y, --yes', description: 'skip the confirmation prompt' }],
  examples: ['gridline delete sales', 'gridline delete alice:12 --yes', "gridline delete '2023*' --yes"],
  async run(context, given, { yes, dryRun }) {
    const client = await context.client()
    const found = await activeOrTrashed(client, given)
    const metas = new Map<string, FileMeta>()
    for (const { of, fid } of found.files) {
      try {
        metas.set(fid, await client.call('files.get', { fid }))
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        found.failures.push({ of, problem: error })
      }
    }
    found.files = found.files.filter(({ fid }) => metas.has(fid))
    if (metas.size > 0) {
      warnOfPlots(context, metas)
      await confirm(question([...metas.values()]), yes === true)
    }
    return runOnTargets(context, found, (fid) => remove(client, metas.get(fid)!, dryRun === true), view)
  },
})

/** Resolves names to active files first, then to trashed ones. */
async function activeOrTrashed(client: Client, given: readonly string[]): ReturnType<typeof resolveTargets> {
  const found = await resolveTargets(client, given)
  // Search the trash only for names that do not exist. After other errors the file may be active.
  const isAbsent = ({ problem }: Failure): boolean => problem.code === 'not_found'
  const absent = found.failures.filter(isAbsent)
  const inTrash = await resolveTargets(
    client,
    absent.map(({ of }) => of),
    { trashed: true },
  )
  const known = new Set(found.files.map(({ fid }) => fid))
  return {
    files: [...found.files, ...inTrash.files.filter(({ fid }) => !known.has(fid))],
    failures: [
      ...found.failures.filter((failure) => !isAbsent(failure)),
      ...inTrash.failures.map((failure) =>
        isAbsent(failure) ? absent.find(({ of }) => of === failure.of)! : failure,
      ),
    ],
    several: found.several || inTrash.several,
  }
}

function question(files: readonly FileMeta[]): string {
  const named = files.slice(0, MAX_NAMED).map(({ fid, filename, filetype }) => {
    const inIt = filetype === 'fold' ? ' and everything in it' : ''
    return `${filename} (${fid})${inIt}`
  })
  if (files.length > MAX_NAMED) named.push(`${files.length - MAX_NAMED} more`)
  const what = files.length === 1 ? named[0] : `${files.length} files: ${named.join(', ')}`
  return `Permanently delete ${what}? This cannot be undone.`
}

/** Warns of plots that lose their data, except those that are deleted too. */
function warnOfPlots(context: Context, metas: ReadonlyMap<string, FileMeta>): void {
  for (const { filetype, filename, referencers } of metas.values()) {
    const left = filetype === 'grid' ? referencers.filter((fid) => !metas.has(String(fid))) : []
    if (left.length > 0)
      context.messages.warning(`${filename}: plots that will lose their data: ${left.join(', ')}`)
  }
}

/** Deletes a file permanently, through the trash: after a failure in between it stays there. */
async function remove(client: Client, file: FileMeta, dryRun: boolean): Promise<object> {
  const { fid } = file
  if (file.deleted !== true && !dryRun) await client.call('files.trash', { fid })
  await client.call('files.permanent_delete', { fid })
  return file
}
