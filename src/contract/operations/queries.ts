// Operation that queries grids.
import * as s from '../schema.ts'
import type { Operation } from './operation.ts'
import { contentFormats, dataTypes, jsonBody } from './shared.ts'

export const queriesOperations = {
  'queries.run': {
    summary: 'Query grids in SQL',
    method: 'POST',
    path: '/v2/query',
    access: 'caller',
    agentTool: 'reads',
    body: jsonBody(
      s.object({
        sql: s.string({
          description:
            'One statement that reads, in the SQL of DuckDB. Tables are grids: a path, an id in double quotes ("alice:1"), or a version ("sales@3").',
        }),
        params: s.optional(s.record(s.union(s.string(), s.number(), s.boolean(), s.nothing()))),
        tables: s.optional(s.record(s.string())),
        format: s.optional(
          s.enumOf(contentFormats, { description: 'Format of the result, as of a grid. Default: json.' }),
        ),
      }),
    ),
    status: 200,
    result: 'stream',
    produces: ['application/json', ...Object.values(dataTypes)],
  },
} as const satisfies Record<string, Operation>
