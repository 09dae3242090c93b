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
    const planned = [
      ...uploads.map((one) => ({ of: one.file, path: one.path, upload: one })),
      ...trash.map((one) => ({
        of: one.path,
        path: one.path,
        upload: undefined,
        fid: one.fid,
        etag: one.etag,
      })),
    ]
    if (dryRun)
      return {
        many: planned.map(({ path, upload }) => ({
          file: upload?.file,
          path,
          action: upload?.would ?? 'trash',
        })),
        view: {
          id: 'path',
          columns: uploadedView.columns.filter(({ field }) => field === 'path' || field === 'action'),
        },
      }
    const work = planned.filter(({ upload }) => upload?.would !== 'nothing')
    const sent = await runEach(
      work.filter(({ upload }) => upload !== undefined),
      async ({ of, path, upload }) => {
        const made = await annotated(context, of, () => sender.send(upload!, upload!.target?.etag))
        return [{ ...uploadOf(context, of, made), file: of, path }]
      },
    )
    if (sent.failures.length > 0 && trash.length > 0)
      context.messages.note('nothing was moved to the trash, since an upload failed')
    const trashed =
      sent.failures.length > 0
        ? { many: [], failures: [] }
        : await runEach(
            trash.map((one) => ({ ...one, of: one.path })),
            async ({ fid, path, etag }) => {
              const moved = await client.call('files.trash', { fid, plainHeaders: { 'if-match': etag } })
              if (!moved) throw new Problem('failed', `${path} was not moved to the trash`)
              return [{ ...moved, path, action: 'trashed', warnings: [] }]
            },
          )
    return {
      many: [...sent.many, ...trashed.many],
      view: uploadedView,
      failures: [...sent.failures, ...trashed.failures],
      empty: 'the plan changes nothing',
    }
  },
})
