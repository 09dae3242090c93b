import type { Command } from '../command.ts'
import { overFiles } from '../files.ts'
import { linkView } from '../output/view.ts'

export const command: Command = {
  arguments: '<file...>',
  options: [
    { flags: '--deep', description: 'of a plot: copy its data too, instead of using the same grids' },
    { flags: '--public', description: 'let anyone read the copy' },
  ],
  examples: [
    'gridline cp sales',
    'gridline cp bob:7 --deep',
    'gridline cp https://charts.example.com/~bob/7/',
  ],
  run(context, files, { deep, public: isPublic }) {
    const json = { deep_copy: deep === true, make_public: isPublic === true }
    return overFiles(
      context,
      files,
      async (client, fid) => {
        const { files: made, new_fid, warnings } = await client.call('files.copy', { fid, json })
        return { ...made.find((file) => file.fid === new_fid), files: made, new_fid, warnings }
      },
      linkView,
    )
  },
}
