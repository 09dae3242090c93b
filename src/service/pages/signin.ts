import { document, text } from './html.ts'

/** The form in which a browser signs in. `next` is the path to show afterwards. */
export function signInPage(next: string, failure?: string): string {
  const problem = failure === undefined ? '' : `<p class="note" role="alert">${text(failure)}</p>`
  return document(
    'Sign in',
    `${problem}<form method="post" action="/signin">
<input type="hidden" name="next" value="${text(next)}">
<p><label>Username<br><input name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus></label></p>
<p><label>API key<br><input name="api_key" type="password" autocomplete="current-password" required></label></p>
<p><button type="submit">Sign in</button></p>
</form>
<p>The administrator of this server creates the first API key of a user (<code>gridline admin create-key NAME</code>), the user further ones (<code>gridline key create</code>). <code>gridline open FILE</code> signs in without one.</p>`,
  )
}

/** A path of this server; the start page for anything else, so that nobody is sent to another site. */
export function localPath(path: string | null | undefined): string {
  const ok = path && /^\/(?![/\\])[^\u0000-\u001f\\]*$/.test(path) && path.length <= 2000
  return ok ? path : '/'
}
