// `gridline file`: attachments of files.
import type { CommandEntry } from '../core/define.ts'

export const commands: readonly CommandEntry[] = [
  {
    name: 'extras',
    summary: 'List, add and print the extras of a file',
    load: () => import('./extras.ts'),
  },
  {
    name: 'reference',
    summary: 'Remove references to extras',
    load: () => import('./reference.ts'),
  },
]
