// `gridline star`: stars files.
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { runOnFiles } from '../files/batch.ts'
import { fileView } from '../output/view.ts'

export const command = defineCommand({
  output: arrayOf('File'),
  writes: true,
  arguments: '<file...>',
  examples: ['gridline star sales', 'gridline ls --starred'],
  run: (context, files) =>
    runOnFiles(
      context,
      files,
      async (client, fid) => {
        await client.call('stars.add', { fid })
        return client.call('files.get', { fid })
      },
      fileView,
    ),
})
