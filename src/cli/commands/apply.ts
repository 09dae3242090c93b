// `gridline apply`: applies a plan of `upload --plan`.
import { Problem } from '../../contract/errors.ts'
import { annotated } from '../core/ci.ts'
import { defineCommand } from '../core/define.ts'
import { array } from '../core/prints.ts'
import { runEach } from '../files/batch.ts'
import { uploadedView, uploadFields, uploadOf } from '../upload/done.ts'
import { assertUnchanged, readPlan } from '../upload/plan.ts'
import { Sender } from '../upload/send.ts'

export const command = defineCommand({
  prints: array(['Grid', 'Folder'], {
    ...uploadFields,
    action: 'created, replaced, appended, updated, unchanged or trashed',
  }),
  arguments: '<plan>',
  completes: ['local'],
  writes: true,
  versions: true,
  reports: true,
  examples: [
    'gridline upload data --delete --plan plan.json   # look at it, then:',
    'gridline apply plan.json',
  ],
  async run(context, [file], { dryRun }) {
    const plan = await readPlan(file)
    await assertUnchanged(context, file, plan)
    const { options, uploads, trash } = plan
    const client = await context.client()
    client.several = true
    const sender = new Sender(context, { ...options, yes: true }, true)
    const steps = [
      ...uploads.map((planned) => ({ of: planned.file, path: planned.path, upload: planned })),
      ...trash.map((removal) => ({
        of: removal.path,
        path: removal.path,
        upload: undefined,
        fid: removal.fid,
        etag: removal.etag,
      })),
    ]
    if (dryRun)
      return {
        many: steps.map(({ path, upload }) => ({
          file: upload?.file,
          path,
          action: upload?.would ?? 'trash',
        })),
        view: {
          id: 'path',
          columns: uploadedView.columns.filter(({ field }) => field === 'path' || field === 'action'),
        },
      }
    const work = steps.filter(({ upload }) => upload?.would !== 'nothing')
    const uploaded = await runEach(
      work.filter(({ upload }) => upload !== undefined),
      async ({ of, path, upload }) => {
        const result = await annotated(context, of, () => sender.send(upload!, upload!.target?.etag))
        return [{ ...uploadOf(context, of, result), file: of, path }]
      },
    )
    if (uploaded.failures.length > 0 && trash.length > 0)
      context.messages.note('an upload failed, so nothing was moved to the trash')
    const trashed =
      uploaded.failures.length > 0
        ? { many: [], failures: [] }
        : await runEach(
            trash.map((trashedFile) => ({ ...trashedFile, of: trashedFile.path })),
            async ({ fid, path, etag }) => {
              const moved = await client.call('files.trash', { fid, plainHeaders: { 'if-match': etag } })
              if (!moved) throw new Problem('failed', `${path} was not moved to the trash`)
              return [{ ...moved, path, action: 'trashed', warnings: [] }]
            },
          )
    return {
      many: [...uploaded.many, ...trashed.many],
      view: uploadedView,
      failures: [...uploaded.failures, ...trashed.failures],
      empty: 'the plan changes nothing',
    }
  },
})
