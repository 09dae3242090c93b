// Handlers of operations on the service itself.
import { Problem } from '../../contract/errors.ts'
import { version } from '../../contract/version.ts'
import { once } from '../../json/index.ts'
import { docsPage } from '../pages/reference/docs.ts'
import { openApi } from '../pages/reference/openapi.ts'
import type { Handlers } from './handler.ts'

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
  'service.openapi': async ({ url }) => ({ body: openApi(url, version) }),
  'service.docs': async ({ url }) => ({
    body: once(Buffer.from(docsPage(url, version))),
    type: 'text/html; charset=utf-8',
  }),
  'service.metrics': async ({ metrics }) => ({
    body: once(Buffer.from(metrics.text())),
    type: 'text/plain; version=0.0.4; charset=utf-8',
  }),
  'service.health': async () => ({ body: { status: 'ok' } }),
  'service.ready': async ({ store, lifecycle }) => {
    if (lifecycle.isDraining) throw new Problem('overloaded', 'the server is about to stop')
    try {
      await store.read(({ accounts }) => accounts.user('-'))
    } catch (error) {
      throw error instanceof Problem ? error : new Problem('overloaded', 'the database does not respond')
    }
    return { body: { status: 'ok' } }
  },
} satisfies Partial<Handlers>
