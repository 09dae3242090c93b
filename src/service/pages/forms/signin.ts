import { document, text } from '../html.ts'

/**
 * The form in which a browser signs in. `next` is the path to show afterwards; `provider`: the identity provider that
 * people can sign in with.
 */
export function signInPage(
  next: string,
  provider: string | undefined,
  failure?: string,
  username = '',
): string {
  const other =
    provider === undefined
      ? ''
      : `<p><a class="button primary" href="/signin/oidc?next=${text(encodeURIComponent(next))}">Sign in with ${text(provider)}</a></p>\n<p>Or with an API key:</p>\n`
  const problem = failure === undefined ? '' : `<p class="note" role="alert">${text(failure)}</p>`
  return document(
    'Sign in',
    `${problem}${other}<form method="post" action="/signin">
<input type="hidden" name="next" value="${text(next)}">
<p><label>Username<br><input name="username" value="${text(username)}" autocomplete="username" autocapitalize="none" spellcheck="false" required${provider === undefined ? ' autofocus' : ''}></label></p>
<p><label>API key<br><input name="api_key" type="password" autocomplete="current-password" required></label></p>
<p><button${provider === undefined ? ' class="primary"' : ''} type="submit">Sign in</button></p>
</form>
<p>The administrator of this server creates your first API key with <code>gridline admin create-key NAME</code>. You create more with <code>gridline key create</code>. If the command line is logged in, <code>gridline open</code> signs the browser in without a key.</p>`,
    { user: null, isCard: true },
  )
}

/** Asks before a link signs the browser in, if another site led here or somebody else is signed in. */
export function continuePage(asked: {
  username: string
  /** Who is signed in now. */
  present: string | undefined
  code: string
  next: string
}): string {
  const { username, present, code, next } = asked
  const now =
    present === undefined
      ? ''
      : `<p>You are signed in as <strong>${text(present)}</strong>. Continuing signs you out first.</p>\n`
  return document(
    `Sign in as ${username}?`,
    `<p>This link signs the browser in as <strong>${text(username)}</strong>. What you create then belongs to this user.</p>
${now}<form method="post" action="/signin">
<input type="hidden" name="code" value="${text(code)}">
<input type="hidden" name="next" value="${text(next)}">
<p><button class="primary" type="submit">Continue as ${text(username)}</button> <a href="${text(next)}">Cancel</a></p>
</form>`,
    { user: present ?? null, isCard: true },
  )
}

/** A path of this server; the start page for anything else, so that nobody is sent to another site. */
export function localPath(path: string | null | undefined): string {
  const ok = path && /^\/(?![/\\])[^\u0000-\u001f\\]*$/.test(path) && path.length <= 2000
  return ok ? path : '/'
}
