import type { Entry } from './command.ts'

/** Every command, in the order the help shows them. A new one is a line here and a file. */
export const commands: readonly Entry[] = [
  { name: 'upload', summary: 'Upload CSV or TSV files as grids', load: () => import('./commands/upload.ts') },
  { name: 'append', summary: 'Append rows to a grid', load: () => import('./commands/append.ts') },
  { name: 'cat', summary: 'Print the rows of a grid', load: () => import('./commands/cat.ts') },
  { name: 'ls', summary: 'List the files in a folder', load: () => import('./commands/ls.ts') },
  { name: 'show', summary: 'Show what a file is', load: () => import('./commands/show.ts') },
  { name: 'lookup', summary: 'Find a file by its path', load: () => import('./commands/lookup.ts') },
  { name: 'mkdir', summary: 'Make folders', load: () => import('./commands/mkdir.ts') },
  { name: 'api', summary: 'Make any request to the API', load: () => import('./commands/api.ts') },
  { name: 'login', summary: 'Log in to a server', load: () => import('./commands/login.ts') },
  { name: 'logout', summary: 'Forget the key of a server', load: () => import('./commands/logout.ts') },
  { name: 'whoami', summary: 'Show who you are, and where', load: () => import('./commands/whoami.ts') },
  {
    name: 'profile',
    summary: 'List, choose and remove profiles',
    load: () => import('./commands/profile.ts'),
  },
  { name: 'config', summary: 'Show and change settings', load: () => import('./commands/config.ts') },
  { name: 'serve', summary: 'Run the service', load: () => import('./commands/serve.ts') },
  { name: 'admin', summary: 'Make users and keys on a server', load: () => import('./commands/admin.ts') },
  {
    name: 'completion',
    summary: 'Print a completion script for a shell',
    load: () => import('./commands/completion.ts'),
  },
]
