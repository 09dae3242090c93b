// `gridline apply`: applies a plan of `upload --plan`.
import { Problem } from '../../contract/errors.ts'
import { annotateErrors } from '../core/ci.ts'
import type { Context } from '../core/context.ts'
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { runEach } from '../files/batch.ts'
import { definitionKindOf, readDefinition } from '../files/definitions.ts'
import { assertUnchanged, type Plan, type PlannedUpload, readPlan } from '../upload/plan.ts'
import { toUploadRow, UPLOAD_FIELDS, type UploadedGrid, uploadedView } from '../upload/result.ts'
import { Sender } from '../upload/send.ts'

export const command = defineCommand({
  output: arrayOf(['Grid', 'Folder', 'Plot'], {
    ...UPLOAD_FIELDS,
    action: 'created, replaced, appended, updated, unchanged or trashed',
  }),
  arguments: '<plan>',
  completion: ['local'],
  writes: true,
  createsVersions: true,
  reportsToCi: true,
  examples: [
    'gridline upload data --delete --plan plan.json   # look at it, then:',
    'gridline apply plan.json',
  ],
  async run(context, [file], { dryRun }) {
    const plan = await readPlan(file)
    await assertUnchanged(context, file, plan)
    const { options, uploads, trash } = plan
    const client = await context.client()
    client.isMultiple = true
    const sender = new Sender(context, { ...options, yes: true }, true)
    const steps = [
      ...uploads.map((planned) => ({ subject: planned.file, path: planned.path, upload: planned })),
      ...trash.map((removal) => ({
        subject: removal.path,
        path: removal.path,
        upload: undefined,
        fid: removal.fid,
        etag: removal.etag,
      })),
    ]
    if (dryRun)
      return {
        items: steps.map(({ path, upload }) => ({
          file: upload?.file,
          path,
          action: upload?.would ?? 'trash',
        })),
        view: {
          id: 'path',
          columns: uploadedView.columns.filter(({ field }) => field === 'path' || field === 'action'),
        },
      }
    const planned = uploads.filter(isChange).map((one) => ({ ...one, subject: one.file }))
    // Queries read what this plan changes.
    const definitions = uploads.filter(
      (upload) =>
        definitionKindOf(upload.file) === 'query' ||
        (definitionKindOf(upload.file) !== undefined && isChange(upload)),
    )
    const sent: [PlannedUpload, UploadedGrid][] = []
    const data = await runEach(
      planned.filter(({ file }) => definitionKindOf(file) === undefined),
      async (upload) => {
        const { file, path, target } = upload
        const result = await annotateErrors(context, file, () => sender.send(upload, target?.etag))
        const row = toUploadRow(context, file, result)
        sent.push([upload, row])
        return [{ ...row, file, path }]
      },
    )
    const made = await makePlanned(context, plan, definitions, sent)
    const uploaded = {
      items: [...data.items, ...made.items],
      failures: [...data.failures, ...made.failures],
    }
    if (uploaded.failures.length > 0 && trash.length > 0)
      context.messages.note('an upload failed, so nothing was moved to the trash')
    const trashed =
      uploaded.failures.length > 0
        ? { items: [], failures: [] }
        : await runEach(
            trash.map((trashedFile) => ({ ...trashedFile, subject: trashedFile.path })),
            async ({ fid, path, etag }) => {
              const moved = await client.call('files.trash', { fid, plainHeaders: { 'if-match': etag } })
              if (!moved) throw new Problem('failed', `${path} was not moved to the trash`)
              return [{ ...moved, path, action: 'trashed', warnings: [] }]
            },
          )
    return {
      items: [...uploaded.items, ...trashed.items],
      view: uploadedView,
      failures: [...uploaded.failures, ...trashed.failures],
      empty: 'the plan changes nothing',
    }
  },
})

/** Makes the definitions of a plan. `sent`: what the data files of the plan became. */
async function makePlanned(
  context: Context,
  { options, trash, uploads }: Plan,
  planned: readonly PlannedUpload[],
  sent: readonly [PlannedUpload, UploadedGrid][],
) {
  if (planned.length === 0) return { items: [], failures: [] }
  const [{ DefinitionMaker }, { makeAll }] = await Promise.all([
    import('../upload/make-definitions.ts'),
    import('../upload/definition-order.ts'),
  ])
  const removed = new Set(trash.map(({ fid }) => fid))
  const maker = new DefinitionMaker(context, {
    ...options,
    isReplacing: true,
    yes: options.confirmed,
    removed,
  })
  for (const { target, ...local } of uploads)
    if (target && definitionKindOf(local.file) === undefined)
      maker.remember(local, { fid: target.fid, filetype: 'grid', action: 'unchanged' })
  for (const [local, row] of sent) maker.remember(local, row)
  const files = await Promise.all(
    planned.map(async (one) => ({
      ...one,
      definition: await readDefinition(one.file, definitionKindOf(one.file)!),
    })),
  )
  return makeAll(maker, files, async (local) => {
    const { file, path, target, would } = local
    // A derived grid follows its inputs, which this plan may have changed.
    const etag = local.definition.kind === 'query' ? undefined : target?.etag
    const made = await annotateErrors(context, file, () => maker.make(local, etag))
    return would === 'nothing' ? [] : [{ ...made, file, path }]
  })
}

/** Returns whether a planned upload changes a file. Others stay as they are, or follow their data. */
function isChange({ would }: Pick<PlannedUpload, 'would'>): boolean {
  return would !== 'nothing' && would !== 'follow'
}
