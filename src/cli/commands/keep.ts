// `gridline keep`: keeps a version permanently, or stops keeping it.
import { resolveVersion } from '../../client/index.ts'
import { defineCommand } from '../core/define.ts'
import { objectOf } from '../core/output-schema.ts'
import type { TableView } from '../output/view.ts'

const view: TableView = {
  id: 'version',
  columns: [
    { field: 'version', title: 'VERSION' },
    { field: 'kept', title: 'KEPT' },
    { field: 'name', title: 'NAME' },
    { field: 'made_at', title: 'MADE', time: true },
    { field: 'web_url', title: 'LINK' },
  ],
}

export const command = defineCommand({
  output: objectOf('Version'),
  writes: true,
  arguments: '<file>',
  usage: '<file[@version]>',
  options: [
    { flags: '--name <name>', description: 'name of the version, usable instead of its number: sales@final' },
    { flags: '--undo', description: 'stop keeping the version; it expires as usual' },
  ],
  examples: ['gridline keep sales@3 --name final', 'gridline keep chart', 'gridline keep sales@3 --undo'],
  async run(context, [file], { name, undo, dryRun }) {
    const client = await context.client()
    const { fid, version } = await resolveVersion(client, file)
    if (dryRun && version !== undefined) await client.call('files.get', { fid, version })
    const json = { version, name, ...(undo && { kept: false }) }
    return { item: await client.call('versions.keep', { fid, json }), view }
  },
})
