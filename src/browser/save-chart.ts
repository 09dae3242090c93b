/// <reference lib="dom" />
// Page /newchart: previews and saves a chart sent by another site (share button of plotly.js, or a form).

import { call, request } from './api.ts'

/** Whether the chart is in the page. */
const { external = '' } = (document.currentScript as HTMLScriptElement).dataset
const getElement = <T extends HTMLElement = HTMLElement>(id: string): T => document.getElementById(id) as T
const setVisible = (id: string, visible: boolean): void => {
  getElement(id).hidden = !visible
}
const showMessage = (text: string): void => {
  getElement('message').textContent = text
}

/** JSON text of the chart, without members that are not part of a figure. */
let figure: string | undefined

/** Origin of the page that sends the chart; `null` for a local file. */
const senderOrigin = new URLSearchParams(location.search).get('origin') ?? ''

/** Returns the name of the signed-in user; undefined if there is none. */
async function loadUsername(): Promise<string | undefined> {
  return call('users.current').then(
    ({ username }) => username,
    () => undefined,
  )
}

async function start(): Promise<void> {
  const user = await loadUsername()
  if (user === undefined) {
    setVisible('signin', true)
    showMessage('Sign in to save this chart.')
    return
  }
  setVisible('signin', false)
  getElement('user').textContent = user
  if (external) showReceivedChart(getElement('figure').textContent ?? '', 'a page that sent a form')
  else requestChart()
}

getElement<HTMLFormElement>('signin').addEventListener('submit', async (event) => {
  event.preventDefault()
  const body = new URLSearchParams()
  for (const name of ['username', 'api_key']) body.set(name, getElement<HTMLInputElement>(name).value)
  // The response redirects to the start page, so check the session instead.
  await fetch('/signin', { method: 'POST', body, redirect: 'manual' })
  if (await loadUsername()) await start()
  else showMessage('Wrong username or API key.')
})

/** Asks the opener for the chart, with the protocol of the share button of plotly.js 3.7 and later. */
function requestChart(): void {
  const opener = window.opener as Window | null
  if (!opener || !isOrigin(senderOrigin)) {
    showMessage('Open this page with the share button of a chart.')
    return
  }
  addEventListener('message', ({ source, origin, data }) => {
    if (source !== opener || origin !== senderOrigin || data?.type !== 'chart' || figure !== undefined) return
    showReceivedChart(
      JSON.stringify(data.chart, toPlainValue),
      senderOrigin === 'null' ? 'a page from a file' : senderOrigin,
    )
  })
  opener.postMessage({ type: 'CHART_AUTH_SUCCESS' }, senderOrigin === 'null' ? '*' : senderOrigin)
  showMessage('Receiving the chart …')
}

function isOrigin(text: string): boolean {
  return text === 'null' || (URL.canParse(text) && new URL(text).origin === text && /^https?:/.test(text))
}

/** Replaces typed arrays by arrays (for `JSON.stringify`). */
function toPlainValue(_: string, value: unknown): unknown {
  return ArrayBuffer.isView(value) && !(value instanceof DataView)
    ? Array.from(value as unknown as ArrayLike<number>)
    : value
}

/** Shows a received chart, and the form to save it. */
function showReceivedChart(text: string, origin: string): void {
  let chart: { data?: unknown; layout?: { title?: unknown }; frames?: unknown; config?: unknown }
  try {
    chart = JSON.parse(text)
  } catch {
    showMessage('The page did not send a chart.')
    return
  }
  if (typeof chart !== 'object' || chart === null || !Array.isArray(chart.data)) {
    showMessage('The page did not send a chart.')
    return
  }
  const { data, layout, frames } = chart
  figure = JSON.stringify({ data, layout: layout ?? {}, ...(Array.isArray(frames) && { frames }) })
  const size = new Blob([figure]).size
  const title = layout?.title
  const titleText = typeof title === 'string' ? title : (title as { text?: unknown } | undefined)?.text
  getElement('origin').textContent = origin
  getElement('size').textContent =
    size < 1e6 ? `${Math.ceil(size / 1000)} kB` : `${(size / 1e6).toFixed(1)} MB`
  getElement<HTMLInputElement>('name').value =
    (typeof titleText === 'string' ? titleText : '')
      .replace(/<[^<>]*>/g, ' ')
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
      frame.contentWindow!.postMessage({ type: 'gridline:show', figure }, '*')
  })
  getElement('preview').replaceChildren(frame)
  showMessage('')
  setVisible('save', true)
}

getElement<HTMLFormElement>('save').addEventListener('submit', async (event) => {
  event.preventDefault()
  const button = getElement<HTMLButtonElement>('saving')
  const value = (id: string): string => getElement<HTMLInputElement>(id).value.trim()
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
  showMessage('Saving …')
  try {
    const response = await request('plots.create', {
      headers: { 'content-type': 'application/json' },
      body: `{"figure":${figure},${JSON.stringify(fields).slice(1)}`,
    })
    const { web_url, share_key } = (await response.json()).file
    const link = share_key ? `${web_url}?share_key=${share_key}` : web_url
    const anchor = getElement<HTMLAnchorElement>('link')
    anchor.href = link
    anchor.textContent = link
    setVisible('save', false)
    setVisible('saved', true)
    const copied = await navigator.clipboard.writeText(link).then(
      () => true,
      () => false,
    )
    showMessage(copied ? 'Saved. The link is copied.' : 'Saved.')
  } catch (error) {
    showMessage(`Not saved: ${(error as Error).message}`)
  } finally {
    button.disabled = false
  }
})

start()
