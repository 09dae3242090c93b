// `gridline file reference`: removes references to extras.
import { resolveFid } from '../../client/index.ts'
import { type CommandEntry, defineCommand, subcommand } from '../core/define.ts'
import { objectOf } from '../core/output-schema.ts'
import { fileView } from '../output/view.ts'

const remove = defineCommand({
  output: objectOf('File'),
  writes: true,
  arguments: '<file> <extra>',
  examples: [
    'gridline file reference remove plot alice:14',
    'gridline file reference remove alice:7 alice:14',
  ],
  async run(context, [file, extra]) {
    const client = await context.client()
    const fid = await resolveFid(client, file)
    const json = { fid: await resolveFid(client, extra) }
    return { item: await client.call('files.drop_reference', { fid, json }), view: fileView }
  },
})

export const commands: readonly CommandEntry[] = [
  subcommand('remove', 'Remove the reference to an extra; the extra itself is kept', remove, ['drop', 'rm']),
]
