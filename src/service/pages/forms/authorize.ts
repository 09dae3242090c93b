/** Pages that ask whether the command line may log in. */
import { escapeHtml } from '../../../contract/html.ts'
import { renderDocument } from '../html.ts'

/** Request of a command line to act as the user of the browser. */
export interface LoginRequest {
  /** Port of this machine's loopback address where the command line waits. */
  port: number
  /** SHA-256 of a secret of the command line, in Base64url. */
  challenge: string
  state: string
  /** Name of the machine with the command line. */
  name: string
}

/** Renders the question whether the command line may act as the signed-in user. */
export function renderAuthorizePage(
  username: string,
  { port, challenge, state, name }: LoginRequest,
): string {
  const fields = { port: String(port), challenge, state, name }
  return renderDocument(
    'Log in on the command line',
    `<p>The command line of <strong>${escapeHtml(name)}</strong> asks to act as <strong>${escapeHtml(username)}</strong>: to read and change your files.</p>
<p>Allow this only if you have just run <code>gridline login</code>.</p>
<form method="post" action="/authorize">
${Object.entries(fields)
  .map(([field, value]) => `<input type="hidden" name="${field}" value="${escapeHtml(value)}">`)
  .join('\n')}
<p><button class="primary" type="submit">Allow</button></p>
</form>
<p>Otherwise, close this page. <code>gridline key list</code> shows all keys, and <code>gridline key revoke</code> ends one.</p>`,
    { user: username, isCard: true },
  )
}

/** Renders the confirmation. `url` passes the login code to the command line. */
export function renderAuthorizedPage(url: string): string {
  return renderDocument(
    'Logged in',
    `<p>You are logged in on the command line. You can close this page.</p>
<p><a href="${escapeHtml(url)}">Continue</a>, if the command line still waits.</p>`,
    { isCard: true },
  )
}
