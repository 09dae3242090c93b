// Handler of queries.
import { toByteStream } from '../../json/index.ts'
import { STANDALONE_POLICY } from '../core/chart-policy.ts'
import { createStaleHeaders } from '../files/stale.ts'
import { CONTENT_WRITERS } from '../grids/read/content-formats.ts'
import { getQueries } from '../queries/allowed.ts'
import type { Handlers } from './handler.ts'

export const queryHandlers = {
  'queries.run': async (service, call) => {
    const queries = getQueries(service)
    const { sql, params = {}, tables = {}, format = 'json' } = call.fields
    const { type, body } = CONTENT_WRITERS[format]
    const headers = format === 'html' ? { 'content-security-policy': STANDALONE_POLICY } : undefined
    return {
      body: toByteStream(new Uint8Array()),
      type,
      createBody: async (user, { isAborted }) => {
        const principal = { caller: call.caller, isAborted }
        const runner = await queries.get()
        const { snapshot, tables: read } = await runner.run(service, user, principal, {
          sql,
          parameters: params,
          tables,
        })
        const result = body(snapshot, { head: undefined }, () => ({ title: 'Query' }))
        const current = read.flatMap(({ source, file }) => (source.version === undefined ? [file] : []))
        return {
          body: runner.hold(snapshot, result),
          type,
          headers: { ...headers, ...createStaleHeaders(current) },
        }
      },
    }
  },
} satisfies Partial<Handlers>
