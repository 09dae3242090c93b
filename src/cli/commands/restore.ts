// `gridline restore`: restores files from the trash.
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { runOnFiles } from '../files/batch.ts'
import { fileView } from '../output/view.ts'

export const command = defineCommand({
  output: arrayOf('File'),
  writes: true,
  arguments: '<file...>',
  completion: [],
  examples: ['gridline restore sales', 'gridline restore alice:12', "gridline restore '2023*'"],
  run: (context, files) =>
    runOnFiles(context, files, (client, fid) => client.call('files.restore', { fid }), fileView, {
      trashed: true,
    }),
})
