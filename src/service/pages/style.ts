/** Stylesheet of all pages. */
const LIGHT_COLORS =
  '--text: #1f2328; --soft: #59636e; --line: #d8dee4; --back: #fff; --panel: #f6f8fa; --link: #0b5cad; --accent: #0b5cad; --on-accent: #fff'
const DARK_COLORS =
  '--text: #e3e6ea; --soft: #9aa4af; --line: #343a42; --back: #16181d; --panel: #1f2329; --link: #7db7ff; --accent: #2f6fd6; --on-accent: #fff'

/** Styles that override the color scheme of the reader's system. */
export const SCHEME_STYLES = {
  light: `:root { color-scheme: light; ${LIGHT_COLORS} }`,
  dark: `:root { color-scheme: dark; ${DARK_COLORS} }`,
  auto: '',
} as const

/** Removes the white space around blocks and declarations, which every page would carry. */
const compact = (style: string): string => style.replace(/\s*([{};])\s*/g, '$1').trim()

/** Stylesheet of all pages. Colors and sizes are variables. */
export const STYLE = compact(`
:root { color-scheme: light dark; ${LIGHT_COLORS}; --warn: #bf8700; --radius: 8px; --gap: 1rem }
@media (prefers-color-scheme: dark) { :root { ${DARK_COLORS} } }
* { box-sizing: border-box }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0; min-height: 100vh; display: flex; flex-direction: column; color: var(--text); background: var(--back) }
body > * { width: 100%; max-width: 74rem; margin-inline: auto; padding-inline: var(--gap) }
main { flex: 1; padding-block: 1.2rem 2rem }
a { color: var(--link); text-underline-offset: .15em }
a:focus-visible, button:focus-visible, summary:focus-visible, input:focus-visible, select:focus-visible, .scroll:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .2rem 0; overflow-wrap: anywhere }
h2 { font-size: 1.15rem; margin: 2rem 0 .6rem }
p { color: var(--soft); margin: .3rem 0 }
ul { padding-left: 1.2rem }
li { overflow-wrap: anywhere }
.top { border-bottom: 1px solid var(--line) }
.top nav { display: flex; flex-wrap: wrap; gap: .5rem var(--gap); align-items: center; padding-block: .6rem }
.top .home { display: flex; align-items: center; gap: .5rem; font-weight: 600; color: var(--text); text-decoration: none }
.top .home svg { width: 1.5rem; height: 1.5rem }
.top .account { margin-left: auto; display: flex; gap: .8rem; align-items: center }
.top .search { flex: 0 1 22rem; display: flex }
.top .search input { min-width: 0; width: 100% }
.foot { border-top: 1px solid var(--line); padding-block: 1rem; color: var(--soft); font-size: 13px; display: flex; flex-wrap: wrap; gap: .3rem var(--gap) }
.crumbs { font-size: 13px; color: var(--soft); display: flex; flex-wrap: wrap; gap: .3rem }
form { margin: 0 }
input, select, textarea { font: inherit; color: var(--text); background: var(--back); border: 1px solid var(--line); border-radius: var(--radius); padding: .35rem .6rem; min-width: 18rem; max-width: 100% }
input.short, select.short { min-width: 0; width: 7rem }
button, .button { font: inherit; color: var(--text); background: var(--panel); border: 1px solid var(--line); border-radius: var(--radius); padding: .25rem .8rem; cursor: pointer; text-decoration: none; display: inline-block }
button.primary, a.primary { color: var(--on-accent); background: var(--accent); border-color: var(--accent); font-weight: 600; padding: .4rem 1.2rem }
.card { max-width: 27rem; margin: 4vh auto 0; border: 1px solid var(--line); border-radius: var(--radius); padding: 1.4rem 1.6rem; background: var(--panel) }
.card.wide { max-width: 44rem; margin-top: 1rem }
.card input, .card select { width: 100%; min-width: 0 }
.card label { display: block; color: var(--text); margin-top: .6rem }
.card button.primary, .card a.primary { width: 100%; margin-top: .8rem }
.cards { list-style: none; padding: 0; margin: .6rem 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(min(15rem, 45%), 1fr)); gap: var(--gap) }
.cards a { display: block; color: var(--text); text-decoration: none; font-weight: 600 }
.cards a:hover b { text-decoration: underline }
.cards b { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.thumb { display: flex; align-items: center; justify-content: center; aspect-ratio: 8 / 5; background: var(--panel); border: 1px solid var(--line); border-radius: var(--radius); overflow: hidden; color: var(--soft) }
.thumb img { width: 100%; height: 100%; object-fit: cover }
.thumb svg { width: 2.6rem; height: 2.6rem }
.kind { color: var(--soft); font-size: 13px; font-weight: 400 }
.scroll { overflow: auto; margin-top: .8rem; max-height: 80vh; border: 1px solid var(--line); border-radius: var(--radius) }
table { border-collapse: collapse; font-size: 14px }
th, td { padding: .25rem .8rem; text-align: left; white-space: pre; border-bottom: 1px solid var(--line) }
.scroll thead th { position: sticky; top: 0; background: var(--panel); z-index: 1 }
th .type { display: block; font-weight: 400; font-size: 12px; color: var(--soft) }
th a { color: var(--text) }
tbody th { font-weight: 400; font-size: 12px; color: var(--soft); text-align: right }
td.n { text-align: right; font-variant-numeric: tabular-nums }
td.n i { font-style: normal; margin-left: .2em }
table.files { width: 100%; margin-top: .6rem }
table.files td, table.files th { padding-left: 0; white-space: normal }
table.files td:first-child { overflow-wrap: anywhere }
table.files svg { width: 1rem; height: 1rem; vertical-align: -.15em; margin-right: .4rem; color: var(--soft) }
table.files td:not(:first-child) { white-space: nowrap; color: var(--soft); font-size: 13px }
pre { font-size: 13px; overflow-x: auto; background: var(--panel); padding: .8rem; border-radius: var(--radius); margin: .4rem 0 }
details { margin: .5rem 0 }
summary { cursor: pointer; line-height: 24px }
time { white-space: nowrap }
.actions a, nav a, .foot a, li > a { display: inline-block; min-width: 24px; line-height: 24px }
code.m { display: inline-block; min-width: 6.5rem; font-weight: 600 }
.chart { display: block; width: 100%; max-width: 100%; height: min(70vh, 40rem); min-height: 20rem; border: 1px solid var(--line); border-radius: var(--radius); margin: 1rem 0 }
.actions { display: flex; flex-wrap: wrap; gap: .4rem .9rem; align-items: center }
.filter { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .6rem 0 }
.filter input { flex: 1; min-width: 0; width: 100% }
.filter label { min-width: 0; display: flex; gap: .5rem; align-items: center; flex: 1 1 20rem }
.edit, #edit-more { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: .6rem var(--gap); margin: .8rem 0 }
.edit label { display: block; font-size: 13px; color: var(--soft) }
.edit label[hidden] { display: none }
.edit input, .edit select, .edit textarea { width: 100%; min-width: 0 }
#edit-fields { display: contents }
.edit details { grid-column: 1 / -1 }
.edit input[type=color] { width: 2.4rem; padding: .1rem; height: 1.9rem; vertical-align: middle }
.edit .actions, .edit p { grid-column: 1 / -1 }
.note { border-left: 3px solid var(--warn); padding: .3rem .8rem; background: var(--panel); color: var(--text); margin: .8rem 0 }
nav.pager { display: flex; gap: var(--gap); flex-wrap: wrap; margin: .8rem 0 0 }
nav.pager [aria-disabled] { color: var(--soft) }
@media (max-width: 40rem) { nav.pager { gap: .3rem .5rem } table.files .wide { display: none } .top .search { order: 3; flex-basis: 100% } }
@media print { .top, .foot, .actions, .filter, button, nav.pager, details:not([open]) { display: none } .scroll { max-height: none; overflow: visible } a { color: inherit; text-decoration: none } }
@media (prefers-reduced-motion: reduce) { * { transition: none !important; animation: none !important } }
`)
