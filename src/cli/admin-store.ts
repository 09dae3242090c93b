import { limitsFrom } from '../contract/limits.ts'
import type { Context } from './context.ts'
import type { Option } from './define.ts'
import { databaseUrl, makeFoldersPrivate } from './settings.ts'

export const database = {
  flags: '--database <url>',
  description: 'sqlite:FILE or postgres://… (default: the database on this machine)',
} as const satisfies Option

export function place(context: Context, url: unknown): string {
  return ((url as string | undefined) ?? databaseUrl(context.environment)).replace(/\/\/[^@/]*@/, '//…@')
}

/** Opens the database directly. Anyone who can open the file can administer it. */
export async function onStore<T>(
  context: Context,
  url: unknown,
  work: (
    service: typeof import('../service/index.ts'),
    store: import('../service/index.ts').Store,
  ) => Promise<T>,
): Promise<T> {
  const service = await import('../service/index.ts')
  if (url === undefined) makeFoldersPrivate(context.environment)
  const store = await service.openStore({
    database: (url as string | undefined) ?? databaseUrl(context.environment),
    limits: limitsFrom(context.environment),
  })
  try {
    return await work(service, store)
  } finally {
    await store.close()
  }
}
