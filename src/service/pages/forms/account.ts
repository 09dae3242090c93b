/** Page of the account: name, quota, keys, sessions and teams. Its script loads them from the API. */
import { Problem } from '../../../contract/errors.ts'
import { escapeHtml } from '../../../contract/html.ts'
import type { Principal } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import { createSitePage, type PageAnswer } from '../answer.ts'
import { assetPathOf } from '../assets.ts'

/** `/account`. Throws `unauthenticated` if nobody is signed in. */
export function renderAccountPage(
  { url }: Service,
  { caller }: Principal,
  query: URLSearchParams,
): PageAnswer {
  if (!caller) throw new Problem('unauthenticated', 'this page requires an account')
  const username = escapeHtml(caller.username)
  const body = `<dl id="profile"><dt>Name</dt><dd>${username}</dd></dl>
<h2>Keys</h2>
<p>Programs and the command line use a key in place of a password. A key that is made here ends with this session at the latest; <code>gridline key create</code> makes others.</p>
<div id="keys"></div>
<h2>The command line</h2>
<pre tabindex="0" id="login">gridline login ${escapeHtml(url)}
gridline upload sales.csv --plot auto</pre><button type="button" data-copy="login" hidden>Copy</button>
<p>The first line opens this browser, and asks whether the command line may act as ${username}.</p>
<h2>Sessions</h2>
<p>A browser stays signed in until it is signed out, or its key ends.</p>
<div id="sessions"></div>
<h2>Teams</h2>
<p>Share a file with a team, and all its members can open it.</p>
<div id="teams"></div>
<noscript><p class="note">Without scripts, use <code>gridline whoami</code>, <code>gridline key</code> and <code>gridline team</code>.</p></noscript>`
  return createSitePage('Account', body, caller, query, {
    scripts: [assetPathOf('account.js')],
    context: { user: caller.username, ...(caller.expiresAt !== null && { ends: String(caller.expiresAt) }) },
  })
}
