// The bindings of DuckDB, which are installed apart: the build uses this module in their place.
import { createRequire } from 'node:module'
import type bindings from '@duckdb/node-bindings'
import type { QuerySettings } from './messages.ts'

const settings: QuerySettings = JSON.parse(process.argv[2])

export default createRequire(import.meta.url)(settings.bindings) as typeof bindings
