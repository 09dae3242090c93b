import type { Command } from '../command.ts'
import { overFiles } from '../files.ts'
import { fileView } from '../output/view.ts'

export const command: Command = {
  arguments: '<file...>',
  examples: ['gridline trash sales', "gridline trash 'Reports/2023*'"],
  run: (context, files) =>
    overFiles(context, files, (client, fid) => client.call('files.trash', { fid }), fileView),
}
