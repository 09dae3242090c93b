// `gridline rename`: renames a file.
import { resolveFid } from '../../client/index.ts'
import { defineCommand } from '../core/define.ts'
import { objectOf } from '../core/output-schema.ts'
import { fileView } from '../output/view.ts'

export const command = defineCommand({
  output: objectOf('File'),
  writes: true,
  arguments: '<file> <name>',
  examples: ['gridline rename Reports/sales "sales 2024"', 'gridline rename alice:12 prices'],
  async run(context, [file, filename]) {
    const client = await context.client()
    const fid = await resolveFid(client, file)
    return { item: await client.call('files.update', { fid, json: { filename } }), view: fileView }
  },
})
