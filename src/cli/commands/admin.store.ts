// Opens a database directly, for `gridline admin`.
import { existsSync } from 'node:fs'
import { Problem } from '../../contract/errors.ts'
import { readLimits } from '../../contract/limits.ts'
import { databaseUrl, makeFoldersPrivate } from '../config/settings.ts'
import type { Context } from '../core/context.ts'
import { dryRunOption, type Option, yesOption } from '../core/define.ts'
import { maskPasswords } from '../core/environment.ts'
import { confirm } from '../core/prompt.ts'

/** Option: the database. */
export const databaseOption = {
  flags: '--database <url>',
  variable: 'GRIDLINE_DATABASE',
  description: 'sqlite:FILE or postgres://… (default: the database on this machine)',
} as const satisfies Option

/** Options of commands that ask for confirmation. */
export const confirmOptions = [yesOption, dryRunOption] as const

/** Asks for confirmation. With --dry-run, only prints the question and returns false. Throws if declined. */
export async function confirmChange(
  context: Context,
  question: string,
  { yes, dryRun: dry }: { yes?: boolean; dryRun?: boolean },
): Promise<boolean> {
  if (dry) context.messages.line(`Dry run, nothing was changed. It would ask: ${question}`)
  else await confirm(question, yes === true)
  return dry !== true
}

/** Returns the URL of a database for output, without user and password. */
export function displayUrl(context: Context, url: string | undefined): string {
  return maskPasswords((url ?? databaseUrl(context.environment)).replace(/\/\/[^@/]*@/, '//…@'))
}

type StoreWork<T> = (
  service: typeof import('../../service/admin.ts'),
  store: import('../../service/admin.ts').Store,
) => Promise<T>

/** Opens an existing database for `work`. No credentials: anyone who can open the file can administer it. */
export async function withStore<T>(
  context: Context,
  url: string | undefined,
  work: StoreWork<T>,
  { dryRun: isDry }: { dryRun?: boolean } = {},
): Promise<T> {
  assertDatabaseExists(context, url)
  return openStoreFor(context, url, work, isDry)
}

async function openStoreFor<T>(
  context: Context,
  url: string | undefined,
  work: StoreWork<T>,
  isDry = false,
): Promise<T> {
  const service = await import('../../service/admin.ts')
  if (url === undefined) makeFoldersPrivate(context.environment)
  const store = await service.openStore({
    database: url ?? databaseUrl(context.environment),
    limits: readLimits(context.environment),
    isDry,
  })
  try {
    return await work(service, store)
  } catch (error) {
    // Commands in hints need the same --database.
    if (error instanceof Problem && url !== undefined && error.hint?.includes('gridline admin '))
      throw new Problem(error.code, error.message, {
        hint: `${error.hint} --database ${maskPasswords(url)}`,
      })
    throw error
  } finally {
    await store.close()
  }
}

/**
 * Changes a database. With `wouldDo` (--dry-run), does and checks the work, rolls it back, prints `wouldDo`,
 * and returns undefined. `mayCreate`: creates a missing database.
 */
export async function changeStore<T>(
  context: Context,
  url: string | undefined,
  wouldDo: string | false | undefined,
  work: StoreWork<T>,
  mayCreate = false,
): Promise<T | undefined> {
  if (!mayCreate) assertDatabaseExists(context, url)
  if (!wouldDo) return openStoreFor(context, url, work)
  const effectiveUrl = isSqliteFileMissing(context, url) ? 'sqlite::memory:' : url
  await openStoreFor(
    context,
    effectiveUrl,
    (service, store) => work(service, service.withoutCommit(store)),
    true,
  )
  context.messages.line(`Dry run, nothing was changed. It would ${wouldDo}.`)
  return undefined
}

/** Returns whether the URL is a SQLite file that does not exist. */
function isSqliteFileMissing(context: Context, url: string | undefined): boolean {
  const effectiveUrl = url ?? databaseUrl(context.environment)
  return (
    effectiveUrl.startsWith('sqlite:') &&
    effectiveUrl !== 'sqlite::memory:' &&
    !existsSync(sqliteFileOf(context, url, ''))
  )
}

/** Throws `no_such_file` if a SQLite database does not exist: opening would create it. */
export function assertDatabaseExists(context: Context, url: string | undefined): void {
  const effectiveUrl = url ?? databaseUrl(context.environment)
  if (!effectiveUrl.startsWith('sqlite:')) return
  const file = sqliteFileOf(context, url, '')
  if (!existsSync(file)) throw new Problem('no_such_file', `no such database: ${file}`)
}

/** Returns the file of a SQLite database. Throws `usage` for other databases, with `hint`. */
export function sqliteFileOf(context: Context, url: string | undefined, hint: string): string {
  const effectiveUrl = url ?? databaseUrl(context.environment)
  if (effectiveUrl.startsWith('sqlite:'))
    return effectiveUrl.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '')
  throw new Problem('usage', 'this command works only with SQLite databases', { hint })
}
