// `gridline path`: prints the paths of files.
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { runOnFiles } from '../files/batch.ts'
import type { TableView } from '../output/view.ts'

const view: TableView = { id: 'path', columns: [{ field: 'path', title: 'PATH' }] }

export const command = defineCommand({
  output: arrayOf([], { path: 'path of the file', fid: 'id of the file' }),
  arguments: '<file...>',
  examples: ['gridline path alice:12', 'gridline path https://charts.example.com/~alice/12/'],
  run: (context, files) =>
    runOnFiles(
      context,
      files,
      async (client, fid) => ({ fid, ...(await client.call('files.path', { fid })) }),
      view,
    ),
})
