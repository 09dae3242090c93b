/** One comment on a pull request of GitHub, or a note on a merge request of GitLab, that is updated. */
import { readFileSync } from 'node:fs'
import type { Context } from './context.ts'

/** Comments that are looked through, in pages of 100. */
const MAX_PAGES = 50
const WAIT_MS = 30_000

interface Event {
  action?: unknown
  pull_request?: { number?: unknown }
}

/** The event that a job of GitHub Actions runs for. */
function eventOf({ GITHUB_EVENT_PATH }: NodeJS.ProcessEnv): Event {
  try {
    return JSON.parse(readFileSync(GITHUB_EVENT_PATH ?? '', 'utf8')) as Event
  } catch {
    return {}
  }
}

/** Whether the pull request of the job is closed, merged or not. */
export function isClosed(environment: NodeJS.ProcessEnv): boolean {
  const { action, pull_request } = eventOf(environment)
  return pull_request !== undefined && action === 'closed'
}

/** The number of the pull or merge request that a CI job runs for. */
export function requestNumber(environment: NodeJS.ProcessEnv): number | undefined {
  const { GITHUB_REF, CI_MERGE_REQUEST_IID } = environment
  if (CI_MERGE_REQUEST_IID) return Number(CI_MERGE_REQUEST_IID)
  const { pull_request } = eventOf(environment)
  if (typeof pull_request?.number === 'number') return pull_request.number
  const [, number] = /^refs\/pull\/(\d+)\//.exec(GITHUB_REF ?? '') ?? []
  return number === undefined ? undefined : Number(number)
}

interface Found {
  id: number
  body?: string | null
  user?: { login?: string; type?: string } | null
  /** GitLab. */
  author?: { username?: string; bot?: boolean } | null
}

/** Where comments are, and how they are written. */
interface Forge {
  /** Of lists and of new comments. */
  url: string
  of(id: number): string
  update: 'PATCH' | 'PUT'
  /** The account of the token. */
  self: string
  headers: Record<string, string>
}

function forgeOf(environment: NodeJS.ProcessEnv): Forge | undefined {
  const e = environment
  const number = requestNumber(e)
  if (number === undefined) return undefined
  if (e.GITHUB_ACTIONS === 'true') {
    const token = e.GITHUB_TOKEN || e.GH_TOKEN
    if (!token || !e.GITHUB_REPOSITORY) return undefined
    const api = e.GITHUB_API_URL || 'https://api.github.com'
    const repository = `${api}/repos/${e.GITHUB_REPOSITORY}/issues`
    return {
      url: `${repository}/${number}/comments`,
      of: (id) => `${repository}/comments/${id}`,
      update: 'PATCH',
      self: `${api}/user`,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/vnd.github+json',
        'x-github-api-version': '2022-11-28',
        'user-agent': 'gridline',
      },
    }
  }
  const { GITLAB_TOKEN, CI_JOB_TOKEN, CI_API_V4_URL, CI_PROJECT_ID } = e
  if (!CI_API_V4_URL || !CI_PROJECT_ID || !(GITLAB_TOKEN || CI_JOB_TOKEN)) return undefined
  const notes = `${CI_API_V4_URL}/projects/${encodeURIComponent(CI_PROJECT_ID)}/merge_requests/${number}/notes`
  const credentials: Record<string, string> = GITLAB_TOKEN
    ? { 'private-token': GITLAB_TOKEN }
    : { 'job-token': CI_JOB_TOKEN! }
  return {
    url: notes,
    of: (id) => `${notes}/${id}`,
    update: 'PUT',
    self: `${CI_API_V4_URL}/user`,
    headers: credentials,
  }
}

/**
 * Writes a comment on the pull or merge request of the CI job: the one that begins with `marker` is updated, if the same
 * account or a bot has written it. Returns whether it was written; without permission, as from forks, it is not.
 */
export async function writeComment(context: Context, marker: string, body: string): Promise<boolean> {
  const forge = forgeOf(context.environment)
  if (!forge) return false
  try {
    const present = await findComment(forge, marker)
    const text = JSON.stringify({ body: `${marker}\n${body}` })
    const done =
      present === undefined
        ? await ask(forge, 'POST', forge.url, text)
        : await ask(forge, forge.update, forge.of(present), text)
    if (done.ok) return true
    context.messages.note(
      [401, 403, 404].includes(done.status)
        ? 'the token may not comment: the review is in the summary alone'
        : `the comment was not written (status ${done.status})`,
    )
  } catch (error) {
    context.messages.note(`the comment was not written: ${(error as Error).message}`)
  }
  return false
}

async function findComment(forge: Forge, marker: string): Promise<number | undefined> {
  const others: Found[] = []
  for (let page = 1; page <= MAX_PAGES; page++) {
    const response = await ask(forge, 'GET', `${forge.url}?per_page=100&page=${page}`)
    if (!response.ok) return undefined
    const found = (await response.json()) as unknown
    if (!Array.isArray(found)) return undefined
    const marked = (found as Found[]).filter(({ body }) => body?.startsWith(marker))
    // Anybody can write a comment that begins so.
    const own = marked.find(({ user, author }) => user?.type === 'Bot' || author?.bot === true)
    if (own) return own.id
    others.push(...marked)
    if (found.length < 100) break
  }
  if (others.length === 0) return undefined
  const response = await ask(forge, 'GET', forge.self)
  if (!response.ok) return undefined
  const { login, username } = (await response.json()) as { login?: string; username?: string }
  const self = login ?? username
  return others.find(({ user, author }) => self !== undefined && (user?.login ?? author?.username) === self)
    ?.id
}

async function ask(
  { headers }: Forge,
  method: string,
  url: string,
  body?: string,
): Promise<{ ok: boolean; status: number; json(): Promise<unknown> }> {
  const { fetch } = await import('../../vendor/undici.ts')
  return fetch(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    body,
    redirect: 'error',
    signal: AbortSignal.timeout(WAIT_MS),
  })
}
