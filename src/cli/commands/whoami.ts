import { defineCommand } from '../define.ts'
import type { TableView } from '../output/view.ts'

export const whoView: TableView = {
  id: 'username',
  columns: [
    { field: 'username', title: 'USERNAME' },
    { field: 'server', title: 'SERVER', format: (server: string | null) => server ?? 'this machine' },
    { field: 'profile', title: 'PROFILE' },
  ],
}

export const command = defineCommand({
  examples: ['gridline whoami', 'gridline whoami --json username'],
  async run(context) {
    const { client, server } = await context.connect()
    const me = await client.call('users.current')
    const { profile } = await context.settings()
    return { one: { ...me, server: server ?? null, profile: server ? profile.value : null }, view: whoView }
  },
})
