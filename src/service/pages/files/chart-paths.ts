/** API paths for scripts of charts. */
import { pathOf } from '../../../contract/operations/index.ts'

/** Returns the API paths of a grid that chart scripts request, with `:fid` for its id. */
export function gridApiPaths(): Record<'grids' | 'describe' | 'rows' | 'columns', string> {
  return {
    grids: pathOf('grids.get', ':fid'),
    describe: pathOf('grids.describe', ':fid'),
    rows: pathOf('grids.content', ':fid'),
    columns: pathOf('columns.get', ':fid'),
  }
}
