// Finds the DuckDB that is installed beside Gridline.
import { createRequire } from 'node:module'
import { Problem } from '../contract/errors.ts'

/** The package, in the version that is tested. */
export const DUCKDB_PACKAGE = '@duckdb/node-api@1.5.5-r.5'

/** Returns the path of the bindings. Throws `no_duckdb`. */
export function findDuckDb(): string {
  try {
    const api = createRequire(import.meta.url).resolve('@duckdb/node-api')
    return createRequire(api).resolve('@duckdb/node-bindings')
  } catch {
    throw new Problem('no_duckdb', 'queries need DuckDB, which is not installed', {
      hint: `Install it beside gridline: npm install --global ${DUCKDB_PACKAGE}`,
    })
  }
}
