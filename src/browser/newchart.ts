/// <reference lib="dom" />
// Saves a chart that another page sends: through the share button of plotly.js, or as the field of a form. Nothing is
// stored before the person says so.

/** Paths of the API, and whether the chart is in the page. */
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

/** The chart as JSON text, without what is not part of a figure. */
let figure: string | undefined

/** The origin of the page that has the chart. `null` for a page from a file. */
const from = new URLSearchParams(location.search).get('origin') ?? ''

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
  // The answer of success leads to the start page; only whether it worked counts here.
  await fetch('/signin', { method: 'POST', body, redirect: 'manual' })
  if (await signedIn()) await begin()
  else say('Wrong username or API key.')
})

/** Tells the page with the chart that it may send it: the protocol of the share button of plotly.js 3.7 and later. */
function askOpener(): void {
  const opener = window.opener as Window | null
  if (!opener || !isOrigin(from)) {
    say('Open this page with the share button of a chart.')
    return
  }
  addEventListener('message', ({ source, origin, data }) => {
    if (source !== opener || origin !== from || data?.type !== 'chart' || figure !== undefined) return
    take(JSON.stringify(data.chart, plain), from === 'null' ? 'a page from a file' : from)
  })
  opener.postMessage({ type: 'CHART_AUTH_SUCCESS' }, from === 'null' ? '*' : from)
  say('Receiving the chart …')
}

function isOrigin(text: string): boolean {
  return text === 'null' || (URL.canParse(text) && new URL(text).origin === text && /^https?:/.test(text))
}

/** Typed arrays become arrays. */
function plain(_: string, value: unknown): unknown {
  return ArrayBuffer.isView(value) && !(value instanceof DataView)
    ? Array.from(value as unknown as ArrayLike<number>)
    : value
}

/** Shows a chart that has arrived, and the form to save it. */
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
  const named = typeof title === 'string' ? title : (title as { text?: unknown } | undefined)?.text
  element('origin').textContent = origin
  element('size').textContent = size < 1e6 ? `${Math.ceil(size / 1000)} kB` : `${(size / 1e6).toFixed(1)} MB`
  element<HTMLInputElement>('name').value =
    (typeof named === 'string' ? named : '')
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
