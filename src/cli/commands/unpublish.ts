// `gridline unpublish`: makes files private.
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { runOnFiles } from '../files/batch.ts'
import { linkView } from '../output/view.ts'

export const command = defineCommand({
  output: arrayOf('File'),
  writes: true,
  arguments: '<file...>',
  examples: ['gridline unpublish sales', "gridline unpublish 'Reports/*'"],
  run(context, files) {
    const json = { world_readable: false }
    return runOnFiles(context, files, (client, fid) => client.call('files.update', { fid, json }), linkView)
  },
})
