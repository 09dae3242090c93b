// `gridline delete`: deletes files permanently.
import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { defineCommand, yesOption } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { confirm } from '../core/prompt.ts'
import { runOnTargets } from '../files/batch.ts'
import { formatFollowers, listFollowers } from '../files/followers.ts'
import { resolveTargets } from '../files/targets.ts'
import type { Failure } from '../output/failure.ts'
import { fileView, type TableView } from '../output/view.ts'

/** Maximum number of names in the confirmation question. */
const MAX_QUESTION_NAMES = 5

const view: TableView = { id: 'fid', columns: fileView.columns.slice(0, 3) }

export const command = defineCommand({
  output: arrayOf('File'),
  writes: true,
  arguments: '<file...>',
  options: [yesOption],
  examples: ['gridline delete sales', 'gridline delete alice:12 --yes', "gridline delete '2023*' --yes"],
  async run(context, names, { yes, dryRun }) {
    const client = await context.client()
    const targets = await resolveActiveOrTrashed(client, names)
    const metas = new Map<string, FileMeta>()
    for (const { subject, fid } of targets.files) {
      try {
        metas.set(fid, await client.call('files.get', { fid }))
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        targets.failures.push({ subject, problem: error })
      }
    }
    targets.files = targets.files.filter(({ fid }) => metas.has(fid))
    if (metas.size > 0) {
      await warnAboutUses(context, client, metas)
      await confirm(formatQuestion([...metas.values()]), yes === true)
    }
    return runOnTargets(
      context,
      targets,
      (fid) => deletePermanently(client, metas.get(fid)!, dryRun === true),
      view,
    )
  },
})

/** Resolves names to active files first, then to trashed files. */
async function resolveActiveOrTrashed(
  client: Client,
  names: readonly string[],
): ReturnType<typeof resolveTargets> {
  const active = await resolveTargets(client, names)
  // Search the trash only for unknown names: after other errors the file can be active.
  const isAbsent = ({ problem }: Failure): boolean => problem.code === 'not_found'
  const absent = active.failures.filter(isAbsent)
  const inTrash = await resolveTargets(
    client,
    absent.map(({ subject }) => subject),
    { trashed: true },
  )
  const activeFids = new Set(active.files.map(({ fid }) => fid))
  return {
    files: [...active.files, ...inTrash.files.filter(({ fid }) => !activeFids.has(fid))],
    failures: [
      ...active.failures.filter((failure) => !isAbsent(failure)),
      ...inTrash.failures.map((failure) =>
        isAbsent(failure) ? absent.find(({ subject: of }) => of === failure.subject)! : failure,
      ),
    ],
    isMultiple: active.isMultiple || inTrash.isMultiple,
  }
}

/** Returns the confirmation question. */
function formatQuestion(files: readonly FileMeta[]): string {
  const descriptions = files.slice(0, MAX_QUESTION_NAMES).map(({ fid, filename, filetype }) => {
    const contentNote = filetype === 'fold' ? ' and its content' : ''
    return `${filename} (${fid})${contentNote}`
  })
  if (files.length > MAX_QUESTION_NAMES) descriptions.push(`${files.length - MAX_QUESTION_NAMES} more`)
  const target = files.length === 1 ? descriptions[0] : `${files.length} files: ${descriptions.join(', ')}`
  return `Permanently delete ${target}? This cannot be undone.`
}

/** Warns about plots, derived grids and boards that lose what they show, except those deleted by the same command. */
async function warnAboutUses(
  context: Context,
  client: Client,
  metas: ReadonlyMap<string, FileMeta>,
): Promise<void> {
  for (const { fid, filetype, filename, referencers } of metas.values()) {
    if (filetype !== 'grid' && filetype !== 'plot') continue
    const followers = await listFollowers(client, fid)
    const [derived, boards] = [followers.derived, followers.boards].map(({ files, hasMore }) => ({
      files: files.filter((one) => !metas.has(one.fid)),
      hasMore,
    }))
    if (boards.files.length > 0)
      context.messages.warning(`${filename}: boards that show it: ${formatFollowers(boards, true)}`)
    if (derived.files.length > 0)
      context.messages.warning(
        `${filename}: grids derived from it keep their content, and cannot follow: ${formatFollowers(derived, true)}`,
      )
    const remaining = referencers.filter((plot) => !metas.has(plot))
    if (remaining.length > 0)
      context.messages.warning(`${filename}: plots that will lose their data: ${remaining.join(', ')}`)
  }
}

/** Deletes a file permanently, through the trash. If the second step fails, the file stays in the trash. */
async function deletePermanently(client: Client, file: FileMeta, dryRun: boolean): Promise<object> {
  const { fid } = file
  if (file.deleted !== true && !dryRun) await client.call('files.trash', { fid })
  await client.call('files.permanent_delete', { fid })
  return file
}
