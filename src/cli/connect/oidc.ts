// Identity tokens of CI jobs.
import { Problem } from '../../contract/errors.ts'

/**
 * Returns the identity token of a CI job: GRIDLINE_OIDC_TOKEN (an `id_tokens` entry of GitLab CI), or one
 * issued by GitHub Actions (`permissions: id-token: write`). Throws `unauthenticated` without one.
 */
export async function fetchIdentityToken(
  audience: string,
  environment: NodeJS.ProcessEnv,
): Promise<{ token: string }> {
  if (environment.GRIDLINE_OIDC_TOKEN) return { token: environment.GRIDLINE_OIDC_TOKEN }
  const { ACTIONS_ID_TOKEN_REQUEST_URL, ACTIONS_ID_TOKEN_REQUEST_TOKEN } = environment
  if (!ACTIONS_ID_TOKEN_REQUEST_URL || !ACTIONS_ID_TOKEN_REQUEST_TOKEN)
    throw new Problem('unauthenticated', 'this job has no identity token', {
      hint: 'In GitHub Actions, add the permission "id-token: write" to the job; in GitLab CI, an id_tokens entry GRIDLINE_OIDC_TOKEN with the URL of the server as aud.',
    })
  const url = new URL(ACTIONS_ID_TOKEN_REQUEST_URL)
  url.searchParams.set('audience', audience)
  const { fetch } = await import('../../vendor/undici.ts')
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${ACTIONS_ID_TOKEN_REQUEST_TOKEN}` },
    redirect: 'error',
  }).catch((error: Error) => {
    throw new Problem('unreachable', `cannot get an identity token from GitHub: ${error.message}`)
  })
  const { value } = (await response.json().catch(() => ({}))) as { value?: unknown }
  if (typeof value === 'string') return { token: value }
  throw new Problem('unauthenticated', `cannot get an identity token from GitHub (status ${response.status})`)
}
