import type { Command } from '../command.ts'
import { overFiles } from '../files.ts'
import { fileView } from '../output/view.ts'

export const command: Command = {
  writes: true,
  arguments: '<file...>',
  examples: ['gridline unstar sales', 'gridline ls --starred'],
  run: (context, files) =>
    overFiles(
      context,
      files,
      async (client, fid) => {
        await client.call('stars.remove', { fid })
        return client.call('files.get', { fid })
      },
      fileView,
    ),
}
