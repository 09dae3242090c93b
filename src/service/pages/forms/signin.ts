/** Pages to sign in. */
import { escapeHtml } from '../../../contract/html.ts'
import { renderDocument } from '../html.ts'

/** Renders the sign-in form. `next`: path to show afterwards; `provider`: name of the identity provider. */
export function renderSignInPage(
  next: string,
  provider: string | undefined,
  failure?: string,
  username = '',
): string {
  const providerLink =
    provider === undefined
      ? ''
      : `<p><a class="button primary" href="/signin/oidc?next=${escapeHtml(encodeURIComponent(next))}">Sign in with ${escapeHtml(provider)}</a></p>\n<p>Or with an API key:</p>\n`
  const problem = failure === undefined ? '' : `<p class="note" role="alert">${escapeHtml(failure)}</p>`
  return renderDocument(
    'Sign in',
    `${problem}${providerLink}<form method="post" action="/signin">
<input type="hidden" name="next" value="${escapeHtml(next)}">
<p><label>Username<br><input name="username" value="${escapeHtml(username)}" autocomplete="username" autocapitalize="none" spellcheck="false" required${provider === undefined ? ' autofocus' : ''}></label></p>
<p><label>API key<br><input name="api_key" type="password" autocomplete="current-password" required></label></p>
<p><button${provider === undefined ? ' class="primary"' : ''} type="submit">Sign in</button></p>
</form>
<p>The administrator of this server creates your first API key with <code>gridline admin create-key NAME</code>. You create more with <code>gridline key create</code>. If the command line is logged in, <code>gridline open</code> signs the browser in without a key.</p>`,
    { user: null, isCard: true },
  )
}

/** Renders the question before a link signs in, if it came from another site or another user is signed in. */
export function renderContinuePage(options: {
  username: string
  /** User who is signed in; undefined if nobody is. */
  currentUser: string | undefined
  code: string
  next: string
}): string {
  const { username, currentUser: present, code, next } = options
  const signOutNote =
    present === undefined
      ? ''
      : `<p>You are signed in as <strong>${escapeHtml(present)}</strong>. Continuing signs you out first.</p>\n`
  return renderDocument(
    `Sign in as ${username}?`,
    `<p>This link signs the browser in as <strong>${escapeHtml(username)}</strong>. What you create then belongs to this user.</p>
${signOutNote}<form method="post" action="/signin">
<input type="hidden" name="code" value="${escapeHtml(code)}">
<input type="hidden" name="next" value="${escapeHtml(next)}">
<p><button class="primary" type="submit">Continue as ${escapeHtml(username)}</button> <a href="${escapeHtml(next)}">Cancel</a></p>
</form>`,
    { user: present ?? null, isCard: true },
  )
}

/** Returns a path of this server, or `/` for anything else, so that redirects never lead to another site. */
export function toLocalPath(path: string | null | undefined): string {
  const ok = path && /^\/(?![/\\])[^\p{Cs}\u0000-\u001f\\]*$/u.test(path) && path.length <= 2000
  return ok ? path : '/'
}
