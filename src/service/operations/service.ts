// Handlers of operations on the service itself.
import { Problem } from '../../contract/errors.ts'
import { version } from '../../contract/version.ts'
import { toByteStream } from '../../json/index.ts'
import { waitAtMost } from '../core/wait-at-most.ts'
import { renderDocsPage } from '../pages/reference/docs.ts'
import { createOpenApi } from '../pages/reference/openapi.ts'
import type { Handlers } from './handler.ts'

/** Maximum wait for the database before a server is not ready, in ms: probes are often shorter than its timeouts. */
const READY_WAIT_MS = 2000

/** Handlers of operations on the service itself. */
export const systemHandlers = {
  'service.index': async ({ url }) => ({
    body: {
      ...Object.fromEntries(
        ['grids', 'plots', 'files', 'folders', 'extras', 'users', 'teams', 'keys'].map((name) => [
          name,
          `${url}/v2/${name}`,
        ]),
      ),
      dry_run: `${url}/v2/docs#dry-runs`,
    },
  }),
  'service.openapi': async ({ url }) => ({ body: createOpenApi(url, version) }),
  'service.docs': async ({ url }) => ({
    body: toByteStream(Buffer.from(renderDocsPage(url, version))),
    type: 'text/html; charset=utf-8',
  }),
  'service.metrics': async ({ metrics }) => ({
    body: toByteStream(Buffer.from(metrics.formatText())),
    type: 'text/plain; version=0.0.4; charset=utf-8',
  }),
  'service.health': async () => ({ body: { status: 'ok' } }),
  'service.ready': async ({ store, lifecycle }) => {
    if (lifecycle.isDraining) throw new Problem('overloaded', 'the server is about to stop')
    const silent = new Problem('overloaded', 'the database does not respond')
    const reading = store
      .read(({ accounts }) => accounts.getUser('-'))
      .then(
        () => undefined,
        (error) => (error instanceof Problem ? error : silent),
      )
    const failure = await waitAtMost(READY_WAIT_MS, reading, silent)
    if (failure) throw failure
    return { body: { status: 'ok' } }
  },
} satisfies Partial<Handlers>
