/** Derived grids: their content is the result of a query, and follows its tables. See docs/sql.md. */
import * as s from '../schema.ts'
import { GridMeta } from './grids.ts'
import { Parent, Timestamp } from './shared.ts'

const parameters = s.record(s.union(s.string(), s.number(), s.boolean(), s.nothing()))

export const Derive = s.object({
  filename: s.string(),
  ...Parent,
  world_readable: s.optional(s.boolean()),
  on_conflict: s.optional(
    s.enumOf(['fail', 'replace'], {
      description:
        'If the name is taken: `fail` (default), or `replace` the content and the query of that grid, which keeps its link.',
    }),
  ),
  sql: s.string({
    description:
      'One statement that reads, as in /v2/query. Names of grids are looked up in the folder of the new grid, then in the folders above it.',
  }),
  params: s.optional(parameters),
})

export const Derivation = s.object({
  fid: s.string(),
  filename: s.string(),
  state: s.enumOf(['current', 'pending', 'stale'], {
    description:
      'current: the content matches the inputs. pending: an input has changed, and a refresh follows. stale: the refresh failed, and the last content stays.',
  }),
  refreshed_at: Timestamp,
  stale_since: s.nullable(Timestamp),
  error: s.optional(
    s.nullable(s.object({ code: s.string(), detail: s.string(), hint: s.optional(s.string()) })),
  ),
  sql: s.optional(s.string()),
  params: s.optional(parameters),
  inputs: s.optional(
    s.array(
      s.object({
        table: s.string({ description: 'The table, as the query names it.' }),
        fid: s.string(),
        version: s.nullable(s.string({ description: 'The version, if the query names one.' })),
      }),
    ),
  ),
})
export type Derivation = s.Static<typeof Derivation>

export const Derivations = s.object({
  derivations: s.array(Derivation, { description: 'By id.' }),
})

export const Derived = s.object({
  file: GridMeta,
  action: s.enumOf(['created', 'replaced', 'unchanged', 'drafted']),
  derivation: s.optional(Derivation),
})
