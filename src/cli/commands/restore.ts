import type { Command } from '../command.ts'
import { overFiles } from '../files.ts'
import { fileView } from '../output/view.ts'

export const command: Command = {
  writes: true,
  arguments: '<file...>',
  examples: ['gridline restore sales', 'gridline restore alice:12', "gridline restore '2023*'"],
  run: (context, files) =>
    overFiles(context, files, (client, fid) => client.call('files.restore', { fid }), fileView, {
      trashed: true,
    }),
}
