// `gridline whoami`: shows user, server and the origin of the key.
import { defineCommand } from '../core/define.ts'
import { objectOf } from '../core/output-schema.ts'
import type { TableView } from '../output/view.ts'

export const whoView: TableView = {
  id: 'username',
  columns: [
    { field: 'username', title: 'USERNAME' },
    { field: 'server', title: 'SERVER', format: (server: string | null) => server ?? 'this machine' },
    { field: 'profile', title: 'PROFILE' },
    { field: 'credential', title: 'KEY FROM', format: (source: string | null | undefined) => source ?? '' },
  ],
}

export const command = defineCommand({
  output: objectOf('User', {
    server: 'URL of the server, or null for this machine',
    profile: 'name of the profile, or null',
    credential: 'origin of the key, or null',
  }),
  examples: ['gridline whoami', 'gridline whoami --json username'],
  async run(context) {
    const { client, server } = await context.connect()
    const me = await client.call('users.current')
    const { profile, api_key } = await context.settings()
    const connection = server
      ? { server, profile: profile.value, credential: api_key.source }
      : { server: null, profile: null, credential: null }
    return { item: { ...me, ...connection }, view: whoView }
  },
})
