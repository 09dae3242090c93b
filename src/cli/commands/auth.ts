// `gridline auth`: login, logout and the state of the login.
import type { CommandEntry } from '../core/define.ts'

/** Subcommands of `auth`, as in other tools. */
export const commands: readonly CommandEntry[] = [
  { name: 'login', summary: 'Log in to a server', load: () => import('./login.ts') },
  { name: 'logout', summary: 'Log out of a server', load: () => import('./logout.ts') },
  {
    name: 'status',
    aliases: ['whoami'],
    summary: 'Show the current user and server',
    load: () => import('./whoami.ts'),
  },
]
