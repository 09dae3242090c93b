import type { Command } from '../command.ts'
import { overFiles } from '../files.ts'
import { linkView } from '../output/view.ts'

export const command: Command = {
  arguments: '<file...>',
  examples: ['gridline publish sales', "gridline publish 'Reports/*'"],
  run(context, files) {
    const json = { world_readable: true }
    return overFiles(context, files, (client, fid) => client.call('files.update', { fid, json }), linkView)
  },
}
