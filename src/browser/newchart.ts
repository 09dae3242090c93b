/// <reference lib="dom" />
// Page /newchart: previews and saves a chart sent by another site (share button of plotly.js, or a form).

// API paths, and whether the chart is in the page.
const {
  external = '',
  user: userPath = '',
  plots: plotsPath = '',
} = (document.currentScript as HTMLScriptElement).dataset
const element = <T extends HTMLElement = HTMLElement>(id: string): T => document.getElementById(id) as T
const show = (id: string, visible: boolean): void => {
  element(id).hidden = !visible
}
const say = (text: string): void => {
  element('message').textContent = text
}

/** JSON text of the chart, without members that are not part of a figure. */
let figure: string | undefined

/** Origin of the page that sends the chart; `null` for a local file. */
const senderOrigin = new URLSearchParams(location.search).get('origin') ?? ''

/** Returns the name of the signed-in user; undefined if there is none. */
async function signedIn(): Promise<string | undefined> {
  const response = await fetch(userPath)
  return response.ok ? (await response.json()).username : undefined
}

async function begin(): Promise<void> {
  const user = await signedIn()
  if (user === undefined) {
    show('signin', true)
    say('Sign in to save this chart.')
    return
  }
  show('signin', false)
  element('user').textContent = user
  if (external) take(element('figure').textContent ?? '', 'a page that sent a form')
  else askOpener()
}

element<HTMLFormElement>('signin').addEventListener('submit', async (event) => {
  event.preventDefault()
  const body = new URLSearchParams()
  for (const name of ['username', 'api_key']) body.set(name, element<HTMLInputElement>(name).value)
  // The response redirects to the start page, so check the session instead.
  await fetch('/signin', { method: 'POST', body, redirect: 'manual' })
  if (await signedIn()) await begin()
  else say('Wrong username or API key.')
})

/** Asks the opener for the chart, with the protocol of the share button of plotly.js 3.7 and later. */
function askOpener(): void {
  const opener = window.opener as Window | null
  if (!opener || !isOrigin(senderOrigin)) {
    say('Open this page with the share button of a chart.')
    return
  }
  addEventListener('message', ({ source, origin, data }) => {
    if (source !== opener || origin !== senderOrigin || data?.type !== 'chart' || figure !== undefined) return
    take(JSON.stringify(data.chart, plain), senderOrigin === 'null' ? 'a page from a file' : senderOrigin)
  })
  opener.postMessage({ type: 'CHART_AUTH_SUCCESS' }, senderOrigin === 'null' ? '*' : senderOrigin)
  say('Receiving the chart …')
}

function isOrigin(text: string): boolean {
  return text === 'null' || (URL.canParse(text) && new URL(text).origin === text && /^https?:/.test(text))
}

/** Replaces typed arrays by arrays (for `JSON.stringify`). */
function plain(_: string, value: unknown): unknown {
  return ArrayBuffer.isView(value) && !(value instanceof DataView)
    ? Array.from(value as unknown as ArrayLike<number>)
    : value
}

/** Shows a received chart, and the form to save it. */
function take(text: string, origin: string): void {
  let chart: { data?: unknown; layout?: { title?: unknown }; frames?: unknown; config?: unknown }
  try {
    chart = JSON.parse(text)
  } catch {
    say('The page did not send a chart.')
    return
  }
  if (typeof chart !== 'object' || chart === null || !Array.isArray(chart.data)) {
    say('The page did not send a chart.')
    return
  }
  const { data, layout, frames } = chart
  figure = JSON.stringify({ data, layout: layout ?? {}, ...(Array.isArray(frames) && { frames }) })
  const size = new Blob([figure]).size
  const title = layout?.title
  const titleText = typeof title === 'string' ? title : (title as { text?: unknown } | undefined)?.text
  element('origin').textContent = origin
  element('size').textContent = size < 1e6 ? `${Math.ceil(size / 1000)} kB` : `${(size / 1e6).toFixed(1)} MB`
  element<HTMLInputElement>('name').value =
    (typeof titleText === 'string' ? titleText : '')
      .replace(/<[^>]*>/g, ' ')
      .replace(/[/\\]/g, ' ')
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, 200) || 'chart'
  const frame = document.createElement('iframe')
  frame.className = 'chart'
  frame.title = 'The chart'
  frame.src = '/newchart/preview'
  addEventListener('message', ({ source, data: message }) => {
    if (source === frame.contentWindow && message?.type === 'gridline:ready')
      frame.contentWindow!.postMessage(figure, '*')
  })
  element('preview').replaceChildren(frame)
  say('')
  show('save', true)
}

element<HTMLFormElement>('save').addEventListener('submit', async (event) => {
  event.preventDefault()
  const button = element<HTMLButtonElement>('saving')
  const value = (id: string): string => element<HTMLInputElement>(id).value.trim()
  const access = value('access')
  const fields = {
    raw_data: 'grid',
    filename: value('name'),
    on_conflict: 'rename',
    parent_path: value('folder') || undefined,
    world_readable: access === 'public',
    share_key_enabled: access === 'secret',
  }
  button.disabled = true
  say('Saving …')
  try {
    const response = await fetch(plotsPath, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"figure":${figure},${JSON.stringify(fields).slice(1)}`,
    })
    const answer = await response.json()
    if (!response.ok) throw new Error(answer.detail)
    const { web_url, share_key } = answer.file
    const link = share_key ? `${web_url}?share_key=${share_key}` : web_url
    const anchor = element<HTMLAnchorElement>('link')
    anchor.href = link
    anchor.textContent = link
    show('save', false)
    show('saved', true)
    const copied = await navigator.clipboard.writeText(link).then(
      () => true,
      () => false,
    )
    say(copied ? 'Saved. The link is copied.' : 'Saved.')
  } catch (error) {
    say(`Not saved: ${(error as Error).message}`)
  } finally {
    button.disabled = false
  }
})

begin()

export {}
