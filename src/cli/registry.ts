import type { CommandEntry } from './define.ts'

/** All commands, in the order of the help. To add one, add a line here and a file in commands/. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'upload',
    summary: 'Upload CSV, JSON, XLSX, Parquet or other data files, or archives of them, as grids',
    load: () => import('./commands/upload.ts'),
  },
  { name: 'append', summary: 'Append rows to a grid', load: () => import('./commands/append.ts') },
  { name: 'cat', summary: 'Print the rows of a grid', load: () => import('./commands/cat.ts') },
  { name: 'ls', summary: 'List the files in a folder', load: () => import('./commands/ls.ts') },
  { name: 'show', summary: 'Show the details of a file', load: () => import('./commands/show.ts') },
  {
    name: 'open',
    summary: 'Open a file in the browser, signed in',
    load: () => import('./commands/open.ts'),
  },
  { name: 'lookup', summary: 'Find a file by its path', load: () => import('./commands/lookup.ts') },
  { name: 'mkdir', summary: 'Create folders', load: () => import('./commands/mkdir.ts') },
  { name: 'plot', summary: 'Create, update, show and list plots', load: () => import('./commands/plot.ts') },
  {
    name: 'image',
    summary: 'Save a plot or a figure as PNG, SVG, PDF, WebP or JPEG',
    load: () => import('./commands/image.ts'),
  },
  {
    name: 'preview',
    summary: 'Show a plot or a grid in the terminal',
    load: () => import('./commands/preview.ts'),
  },
  {
    name: 'column',
    summary: 'List, read, add, update and remove columns of a grid',
    load: () => import('./commands/column.ts'),
  },
  { name: 'rename', summary: 'Rename a file', load: () => import('./commands/rename.ts') },
  { name: 'mv', summary: 'Move files into a folder', load: () => import('./commands/mv.ts') },
  { name: 'cp', summary: 'Copy files', load: () => import('./commands/cp.ts') },
  {
    name: 'publish',
    summary: 'Make files public (readable by anyone)',
    load: () => import('./commands/publish.ts'),
  },
  {
    name: 'unpublish',
    summary: 'Make files private (readable by you and collaborators only)',
    load: () => import('./commands/unpublish.ts'),
  },
  {
    name: 'share',
    summary: 'Share files with users, teams or e-mail addresses, or by secret link',
    load: () => import('./commands/share.ts'),
  },
  { name: 'unshare', summary: 'Stop sharing files', load: () => import('./commands/unshare.ts') },
  {
    name: 'collaborators',
    summary: 'List the collaborators of a file',
    load: () => import('./commands/collaborators.ts'),
  },
  { name: 'star', summary: 'Star files', load: () => import('./commands/star.ts') },
  { name: 'unstar', summary: 'Unstar files', load: () => import('./commands/unstar.ts') },
  { name: 'path', summary: 'Print the full path of files', load: () => import('./commands/path.ts') },
  {
    name: 'sources',
    summary: 'Show what a file was created from, and what was created from it',
    load: () => import('./commands/sources.ts'),
  },
  {
    name: 'extras',
    summary: 'List, add and print extras (text or JSON attached to a file)',
    load: () => import('./commands/extras.ts'),
  },
  {
    name: 'reference',
    summary: 'Remove references to extras',
    load: () => import('./commands/reference.ts'),
  },
  { name: 'trash', summary: 'Move files to the trash', load: () => import('./commands/trash.ts') },
  { name: 'restore', summary: 'Restore files from the trash', load: () => import('./commands/restore.ts') },
  { name: 'delete', summary: 'Permanently delete files', load: () => import('./commands/delete.ts') },
  { name: 'team', summary: 'Create, edit and list teams', load: () => import('./commands/team.ts') },
  { name: 'key', summary: 'Create, list and revoke API keys', load: () => import('./commands/key.ts') },
  { name: 'api', summary: 'Send a request to the API', load: () => import('./commands/api.ts') },
  { name: 'login', summary: 'Log in to a server', load: () => import('./commands/login.ts') },
  {
    name: 'logout',
    summary: 'Log out of a server (removes the stored key)',
    load: () => import('./commands/logout.ts'),
  },
  { name: 'whoami', summary: 'Show the current user and server', load: () => import('./commands/whoami.ts') },
  {
    name: 'profile',
    summary: 'List, switch and remove profiles',
    load: () => import('./commands/profile.ts'),
  },
  { name: 'config', summary: 'Show and change settings', load: () => import('./commands/config.ts') },
  { name: 'serve', summary: 'Run the server', load: () => import('./commands/serve.ts') },
  {
    name: 'admin',
    summary: 'Create users and keys; verify, back up, restore and compact the database',
    load: () => import('./commands/admin.ts'),
  },
  {
    name: 'completion',
    summary: 'Print a shell completion script',
    load: async () => ({ command: (await import('./commands/completion.ts')).completion(commands) }),
  },
]
