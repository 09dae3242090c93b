// `gridline trash`: moves files to the trash.
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { runOnFiles } from '../files/batch.ts'
import { warnAboutFollowers } from '../files/followers.ts'
import { fileView } from '../output/view.ts'

export const command = defineCommand({
  output: arrayOf('File'),
  writes: true,
  arguments: '<file...>',
  examples: ['gridline trash sales', "gridline trash 'Reports/2023*'"],
  run: (context, files) =>
    runOnFiles(
      context,
      files,
      async (client, fid, name) => {
        // Also in a dry run, which ends with the next call.
        await warnAboutFollowers(context, client, fid, name, true)
        return client.call('files.trash', { fid })
      },
      fileView,
    ),
})
