/** Pages that save charts from the share button of plotly.js. */

import { createChartPolicy } from '../../core/chart-policy.ts'
import { createPage, type PageAnswer } from '../answer.ts'
import { assetPathOf } from '../assets.ts'
import { renderChartDocument } from '../chart-document.ts'
import { renderDocument } from '../html.ts'

const TITLE = 'Save a chart'

/** HTML before and after the figure. */
export interface AroundFigure {
  before: string
  after: string
}

const BODY_HTML = `<p id="message" role="status">…</p>
<form id="signin" hidden>
<p><label>Username<br><input id="username" autocomplete="username" autocapitalize="none" spellcheck="false" required></label></p>
<p><label>API key<br><input id="api_key" type="password" autocomplete="current-password" required></label></p>
<p><button class="primary" type="submit">Sign in</button></p>
</form>
<div id="preview"></div>
<form id="save" hidden>
<p>From <b id="origin"></b>, <span id="size"></span>. It is saved in the files of <b id="user"></b>.</p>
<p><label>Name<br><input id="name" required maxlength="255"></label></p>
<p><label>Folder<br><input id="folder" placeholder="home folder"></label></p>
<p><label>Access<br><select id="access">
<option value="private">private: you and collaborators</option>
<option value="secret">secret link: anyone with the link</option>
<option value="public">public: anyone</option>
</select></label></p>
<p><button class="primary" type="submit" id="saving">Save</button></p>
</form>
<p id="saved" hidden><a id="link"></a></p>`

/** `/newchart`: receives a chart from plotly.js 3.7 and later, and saves it when the user confirms. */
export function renderSavePage(): PageAnswer {
  return createPage(
    renderDocument(TITLE, BODY_HTML, {
      scripts: [assetPathOf('newchart.js')],
      isCard: 'wide',
    }),
  )
}

/** `/external`: the same for the form of older versions. The figure is inserted between both parts. */
export function renderExternalPage(): AroundFigure {
  const placeholder = '<!-- figure -->'
  const page = renderDocument(
    TITLE,
    `${BODY_HTML}\n<script type="application/json" id="figure">${placeholder}</script>`,
    { scripts: [assetPathOf('newchart.js')], data: { external: 'true' }, isCard: 'wide' },
  )
  const [before, after] = page.split(placeholder)
  return { before, after }
}

/** `/newchart/preview`: a frame with an opaque origin, which draws the figures that its parent page sends. */
export function renderPreviewPage(): PageAnswer {
  return createPage(
    renderChartDocument({ title: 'Preview', scheme: 'auto', description: 'A chart' }).join(''),
    {
      headers: {
        'content-security-policy': createChartPolicy({
          sandbox: 'allow-scripts',
          others: ["frame-ancestors 'self'"],
        }),
      },
    },
  )
}
