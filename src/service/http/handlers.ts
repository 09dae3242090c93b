import { Problem } from '../../contract/errors.ts'
import { version } from '../../contract/version.ts'
import type { Handlers } from '../context.ts'
import { openApi } from './openapi.ts'

/** Operations about the service itself. */
export const systemHandlers = {
  'service.index': async ({ url }) => ({
    body: Object.fromEntries(
      ['grids', 'plots', 'files', 'folders', 'users'].map((name) => [name, `${url}/v2/${name}`]),
    ),
  }),
  'service.openapi': async ({ url }) => ({ body: openApi(url, version) }),
  'service.health': async () => ({ body: { status: 'ok' } }),
  'service.ready': async ({ store }) => {
    try {
      await store.read(({ accounts }) => accounts.user('-'))
    } catch (error) {
      throw error instanceof Problem ? error : new Problem('overloaded', 'the store does not answer')
    }
    return { body: { status: 'ok' } }
  },
} satisfies Partial<Handlers>
