import { pathOf } from '../../../contract/operations/index.ts'

/** The paths of a grid that scripts of charts ask, with `:fid` for its id. */
export function chartPaths(): Record<'grids' | 'describe' | 'rows' | 'columns', string> {
  return {
    grids: pathOf('grids.get', ':fid'),
    describe: pathOf('grids.describe', ':fid'),
    rows: pathOf('grids.content', ':fid'),
    columns: pathOf('columns.get', ':fid'),
  }
}
