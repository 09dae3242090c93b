import type { Command } from '../command.ts'
import { overFiles } from '../files.ts'
import type { View } from '../output/view.ts'

const view: View = { id: 'path', columns: [{ field: 'path', title: 'PATH' }] }

export const command: Command = {
  arguments: '<file...>',
  examples: ['gridline path alice:12', 'gridline path https://charts.example.com/~alice/12/'],
  run: (context, files) =>
    overFiles(
      context,
      files,
      async (client, fid) => ({ fid, ...(await client.call('files.path', { fid })) }),
      view,
    ),
}
