// `gridline apply`: applies a plan of `upload --plan`.
import { Problem } from '../../contract/errors.ts'
import { annotateErrors } from '../core/ci.ts'
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { runEach } from '../files/batch.ts'
import { assertUnchanged, readPlan } from '../upload/plan.ts'
import { toUploadRow, UPLOAD_FIELDS, uploadedView } from '../upload/result.ts'
import { Sender } from '../upload/send.ts'

export const command = defineCommand({
  output: arrayOf(['Grid', 'Folder'], {
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
    const work = steps.filter(({ upload }) => upload?.would !== 'nothing')
    const uploaded = await runEach(
      work.filter(({ upload }) => upload !== undefined),
      async ({ subject, path, upload }) => {
        const result = await annotateErrors(context, subject, () =>
          sender.send(upload!, upload!.target?.etag),
        )
        return [{ ...toUploadRow(context, subject, result), file: subject, path }]
      },
    )
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
