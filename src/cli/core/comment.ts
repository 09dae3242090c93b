/** Creates or updates the review comment on a GitHub pull request or GitLab merge request. */

import { readFileSync } from 'node:fs'
import { errorMessageOf } from '../../contract/errors.ts'
import type { Context } from './context.ts'

/** Maximum number of pages of 100 comments that are searched. */
const MAX_COMMENT_PAGES = 50
const REQUEST_TIMEOUT_MS = 30_000

interface GithubEvent {
  action?: unknown
  pull_request?: { number?: unknown }
}

/** Reads the event of a GitHub Actions job; empty if unreadable. */
function readGithubEvent({ GITHUB_EVENT_PATH }: NodeJS.ProcessEnv): GithubEvent {
  try {
    return JSON.parse(readFileSync(GITHUB_EVENT_PATH ?? '', 'utf8')) as GithubEvent
  } catch {
    return {}
  }
}

/** Returns whether the pull request of the job is closed (or merged). */
export function isPullRequestClosed(environment: NodeJS.ProcessEnv): boolean {
  const { action, pull_request } = readGithubEvent(environment)
  return pull_request !== undefined && action === 'closed'
}

/** Returns the number of the pull or merge request of the CI job; undefined outside of one. */
export function detectRequestNumber(environment: NodeJS.ProcessEnv): number | undefined {
  const { GITHUB_REF, CI_MERGE_REQUEST_IID } = environment
  if (CI_MERGE_REQUEST_IID) return Number(CI_MERGE_REQUEST_IID)
  const { pull_request } = readGithubEvent(environment)
  if (typeof pull_request?.number === 'number') return pull_request.number
  const [, number] = /^refs\/pull\/(\d+)\//.exec(GITHUB_REF ?? '') ?? []
  return number === undefined ? undefined : Number(number)
}

interface ForgeComment {
  id: number
  body?: string | null
  user?: { login?: string; type?: string } | null
  /** Author, in GitLab. */
  author?: { username?: string; bot?: boolean } | null
}

/** API for comments of GitHub or GitLab. */
interface CommentApi {
  /** URL that lists and creates comments. */
  url: string
  /** URL of one comment. */
  commentUrl(id: number): string
  update: 'PATCH' | 'PUT'
  /** URL of the user of the token. */
  userUrl: string
  headers: Record<string, string>
}

/** Returns the API for the CI job; undefined without a pull request or token. */
function detectCommentApi(environment: NodeJS.ProcessEnv): CommentApi | undefined {
  const e = environment
  const number = detectRequestNumber(e)
  if (number === undefined) return undefined
  if (e.GITHUB_ACTIONS === 'true') {
    const token = e.GITHUB_TOKEN || e.GH_TOKEN
    if (!token || !e.GITHUB_REPOSITORY) return undefined
    const api = e.GITHUB_API_URL || 'https://api.github.com'
    const repository = `${api}/repos/${e.GITHUB_REPOSITORY}/issues`
    return {
      url: `${repository}/${number}/comments`,
      commentUrl: (id) => `${repository}/comments/${id}`,
      update: 'PATCH',
      userUrl: `${api}/user`,
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
    commentUrl: (id) => `${notes}/${id}`,
    update: 'PUT',
    userUrl: `${CI_API_V4_URL}/user`,
    headers: credentials,
  }
}

/**
 * Creates the comment on the pull or merge request of the CI job, or updates the one that begins with
 * `marker` and was written by the same account or a bot. Returns false if not permitted, as in jobs of forks.
 */
export async function writeComment(context: Context, marker: string, body: string): Promise<boolean> {
  const forge = detectCommentApi(context.environment)
  if (!forge) return false
  try {
    const id = await findComment(forge, marker)
    const text = JSON.stringify({ body: `${marker}\n${body}` })
    if (id === undefined) await sendRequest(forge, 'POST', forge.url, text)
    else await sendRequest(forge, forge.update, forge.commentUrl(id), text)
    return true
  } catch (error) {
    const isSummarized = context.environment.GITHUB_ACTIONS === 'true'
    const where = isSummarized ? 'the review is only in the summary' : '--format md prints the review'
    context.messages.note(`the comment was not written: ${errorMessageOf(error)}; ${where}`)
    return false
  }
}

/**
 * Finds our comment with `marker`, or undefined if there is none, or its author cannot be determined. Throws if
 * the comments cannot be listed: a second comment would then be possible.
 */
async function findComment(forge: CommentApi, marker: string): Promise<number | undefined> {
  const byUsers: ForgeComment[] = []
  for (let page = 1; page <= MAX_COMMENT_PAGES; page++) {
    const response = await sendRequest(forge, 'GET', `${forge.url}?per_page=100&page=${page}`)
    const comments: unknown = await response.json()
    if (!Array.isArray(comments)) throw new Error('the comments cannot be listed')
    const candidates: ForgeComment[] = comments.filter(({ body }) => body?.startsWith(marker))
    // Any user can write a comment that begins with the marker: trust bots, and the account of the token.
    const byBot = candidates.find(({ user, author }) => user?.type === 'Bot' || author?.bot === true)
    if (byBot) return byBot.id
    byUsers.push(...candidates)
    if (comments.length < 100) break
  }
  if (byUsers.length === 0) return undefined
  // Tokens of apps have no account.
  const account = await loadAccount(forge).catch(() => undefined)
  return byUsers.find(
    ({ user, author }) => account !== undefined && (user?.login ?? author?.username) === account,
  )?.id
}

/** Loads the name of the token's account. Throws if the token has none. */
async function loadAccount(forge: CommentApi): Promise<string | undefined> {
  const response = await sendRequest(forge, 'GET', forge.userUrl)
  const { login, username } = (await response.json()) as { login?: string; username?: string }
  return login ?? username
}

/** Sends a request. Throws if it cannot be sent, or its status is not 2xx. */
async function sendRequest(
  { headers }: CommentApi,
  method: string,
  url: string,
  body?: string,
): Promise<{ json(): Promise<unknown> }> {
  const { fetch } = await import('../../vendor/undici.ts')
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    body,
    redirect: 'error',
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  })
  if (response.ok) return response
  const { status } = response
  throw new Error([401, 403, 404].includes(status) ? 'the token may not comment' : `status ${status}`)
}
