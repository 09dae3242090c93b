import { resolve } from '../../client/index.ts'
import type { GridMeta } from '../../contract/resources.ts'
import { defineCommand } from '../define.ts'
import { type TableView, typeName } from '../output/view.ts'

const detailView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'filetype', title: 'TYPE' },
    { field: 'row_count', title: 'ROWS', align: 'right' },
    {
      field: 'cols',
      title: 'COLUMNS',
      format: (cols: GridMeta['cols'] | undefined) =>
        (cols ?? []).map(({ name, type }) => `${name}:${typeName(type)}`).join(' '),
    },
    { field: 'world_readable', title: 'ACCESS', format: (value: boolean) => (value ? 'public' : 'private') },
    { field: 'creation_time', title: 'CREATED' },
    { field: 'date_modified', title: 'MODIFIED' },
    { field: 'web_url', title: 'LINK' },
  ],
}

export const command = defineCommand({
  arguments: '<file>',
  examples: [
    'gridline show sales',
    'gridline show alice:12 --json',
    "gridline show sales --jq '.cols[].name'",
  ],
  async run(context, [file]) {
    const client = await context.clientFor(file)
    const fid = await resolve(client, file)
    return { one: await client.call('files.get', { fid }), view: detailView }
  },
})
