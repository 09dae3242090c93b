// Handler of the statistics of columns.
import { formatFid } from '../../contract/fid.ts'
import type { ColumnDescription } from '../../contract/resources/index.ts'
import { authorizeCall } from '../access/access.ts'
import { selectByName, trimSnapshot } from '../grids/column/snapshot.ts'
import { describeColumn } from '../grids/read/describe.ts'
import { Selection } from '../grids/read/selection.ts'
import { takeRequestedSnapshot } from './grids.requested.ts'
import { analyze, type Handlers } from './handler.ts'

export const describeHandlers = {
  'grids.describe': async (service, call) => {
    const { columns: names, where } = call.query
    const selection = new Selection({ where })
    const { file, given: loaded } = await service.store.read(async (readers) => {
      const access = await authorizeCall(readers, call)
      const choose = names && selectByName([...new Set(names)])
      const snap = await takeRequestedSnapshot(service, readers, access, call, (columns) =>
        selection.bind(columns, choose ? choose(columns) : columns),
      )
      return { file: access.file, given: snap }
    })
    const snapshot = await trimSnapshot(loaded)
    const selectedColumns = selection.printedSnapshot(snapshot)
    const common = { fid: formatFid(call.fid), filename: file.filename, row_count: selectedColumns.rows }
    return {
      body: { ...common, columns: [] },
      createBody: analyze(service, async (work) => {
        const selected = await selection.select(service.orders, snapshot, work)
        const rows = 'rows' in selected ? selected.rows : undefined
        const columns: ColumnDescription[] = []
        for (const column of selectedColumns.columns)
          columns.push(await describeColumn(selectedColumns, column, work, rows))
        return { body: { ...common, row_count: rows?.count ?? selectedColumns.rows, columns } }
      }),
    }
  },
} satisfies Partial<Handlers>
