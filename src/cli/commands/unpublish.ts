import type { Command } from '../command.ts'
import { overFiles } from '../files.ts'
import { linkView } from '../output/view.ts'

export const command: Command = {
  writes: true,
  arguments: '<file...>',
  examples: ['gridline unpublish sales', "gridline unpublish 'Reports/*'"],
  run(context, files) {
    const json = { world_readable: false }
    return overFiles(context, files, (client, fid) => client.call('files.update', { fid, json }), linkView)
  },
}
