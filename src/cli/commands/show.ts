// `gridline show`: shows the details of files.
import { formatColumnType } from '../../charts/spec/column-names.ts'
import { type Client, resolveFid } from '../../client/index.ts'
import type { GridMeta } from '../../contract/resources/index.ts'
import { defineCommand } from '../core/define.ts'
import { objectOf } from '../core/output-schema.ts'
import { runOnFiles } from '../files/batch.ts'
import { isPattern } from '../files/patterns.ts'
import { fileView, formatAccess, type TableView } from '../output/view.ts'

const detailView: TableView = {
  id: 'fid',
  columns: [
    ...fileView.columns.slice(0, 3),
    { field: 'row_count', title: 'ROWS', align: 'right' },
    {
      field: 'cols',
      title: 'COLUMNS',
      format: (cols: GridMeta['cols'] | undefined) =>
        (cols ?? []).map(({ name, type }) => `${name}:${formatColumnType(type)}`).join(' '),
    },
    {
      field: 'primary_key',
      title: 'KEY',
      format: (key: string[] | null | undefined) => (key ?? []).join(', '),
    },
    { field: 'draft', title: 'DRAFT' },
    { field: 'version', title: 'VERSION' },
    { field: 'world_readable', title: 'ACCESS', format: formatAccess },
    { field: 'creation_time', title: 'CREATED', time: true },
    { field: 'date_modified', title: 'MODIFIED', time: true },
    { field: 'web_url', title: 'LINK' },
    // Missing columns of a plot.
    { field: 'missing', title: 'PROBLEM' },
    { field: 'stale_since', title: 'STALE SINCE', time: true },
  ],
}

export const command = defineCommand({
  output: objectOf(['File', 'Grid', 'Folder', 'Plot']),
  arguments: '<file>',
  examples: [
    'gridline show sales',
    'gridline show alice:12 --json',
    "gridline show sales --jq '.cols[].name'",
  ],
  async run(context, files) {
    if (files.length === 1 && !isPattern(files[0])) {
      const client = await context.clientFor(files[0])
      return { item: await loadDetails(client, await resolveFid(client, files[0])), view: detailView }
    }
    return runOnFiles(context, files, loadDetails, detailView, { read: true })
  },
})

/** Loads a file; for plots, with missing columns. */
async function loadDetails(client: Client, fid: string): Promise<object> {
  const file = await client.call('files.get', { fid })
  return file.filetype === 'plot' ? client.call('plots.get', { fid, query: { missing: true } }) : file
}
