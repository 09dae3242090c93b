/// <reference lib="dom" />
// Buttons of a file page. The page works without this script.
import { loadScript } from './plotly.ts'

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
  button.hidden = false
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset.copy!) as HTMLElement
    try {
      await navigator.clipboard.writeText(source.textContent ?? '')
      showOnButton(button, 'Copied')
    } catch {
      // No permission, or an insecure origin: select the text instead.
      getSelection()?.selectAllChildren(source)
      showOnButton(button, 'Press Ctrl+C to copy')
    }
  })
}

// What was done before the page was loaded again.
try {
  const text = sessionStorage.getItem('gridline:said')
  sessionStorage.removeItem('gridline:said')
  if (text !== null) {
    const message = document.createElement('p')
    message.setAttribute('role', 'status')
    message.textContent = text
    document.querySelector('h1')?.after(message)
  }
} catch {
  // Without storage, nothing was said.
}

// With Back, browsers show a page as it was: its reader may have signed out meanwhile.
addEventListener('pageshow', ({ persisted }) => {
  if (!persisted || !document.querySelector('form[action="/signout"]')) return
  document.body.hidden = true
  location.reload()
})

/** Numbers of rows and columns in the picture of a grid. */
const PICTURE_ROWS = 7
const PICTURE_COLUMNS = 4

/** Shows the first rows of a grid as its picture. */
async function showRows(tile: HTMLElement): Promise<void> {
  const response = await fetch(`${tile.dataset.rows}?head=${PICTURE_ROWS}`)
  if (!response.ok) return
  const { cols } = (await response.json()) as { cols: Record<string, { data: unknown[]; order: number }> }
  const columns = Object.entries(cols)
    .sort(([, a], [, b]) => a.order - b.order)
    .slice(0, PICTURE_COLUMNS)
  const table = document.createElement('table')
  table.setAttribute('aria-hidden', 'true')
  const head = table.createTHead().insertRow()
  const body = table.createTBody()
  for (const [name] of columns)
    head.append(Object.assign(document.createElement('th'), { textContent: name }))
  for (let row = 0; row < Math.max(0, ...columns.map(([, { data }]) => data.length)); row++) {
    const cells = body.insertRow()
    for (const [, { data }] of columns) cells.insertCell().textContent = String(data[row] ?? '').slice(0, 40)
  }
  tile.replaceChildren(table)
}

// Only for tiles that are seen.
const seenTiles = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue
    seenTiles.unobserve(target)
    showRows(target as HTMLElement).catch(() => {})
  }
})
for (const tile of document.querySelectorAll('.thumb[data-rows]')) seenTiles.observe(tile)

/** Shows a message on a button for two seconds. */
function showOnButton(button: HTMLButtonElement, text: string): void {
  const label = button.textContent
  button.textContent = text
  setTimeout(() => {
    button.textContent = label
  }, 2000)
}

const form = document.getElementById('embed-form') as HTMLFormElement | null
const snippet = document.getElementById('embed')
if (form && snippet) {
  const original = snippet.textContent ?? ''
  form.hidden = false
  form.addEventListener('submit', (event) => event.preventDefault())
  form.addEventListener('input', () => {
    const { width, height, theme } = Object.fromEntries(new FormData(form)) as Record<string, string>
    snippet.textContent = original
      .replace(/width="[^"]*"/, () => `width="${sizeAttribute(width || '100%')}"`)
      .replace(/height="[^"]*"/, () => `height="${sizeAttribute(height || '500')}"`)
      .replace(/src="([^"]*)"/, (_, url: string) =>
        theme ? `src="${url}${url.includes('?') ? '&amp;' : '?'}theme=${theme}"` : `src="${url}"`,
      )
  })
}

/** Returns a valid size for an HTML attribute; 100% for invalid ones. */
function sizeAttribute(size: string): string {
  return /^\d{1,4}(?:px|%)?$/.test(size.trim()) ? size.trim() : '100%'
}

// Use the size in the layout of a chart.
for (const frame of document.querySelectorAll<HTMLIFrameElement>('iframe.chart')) {
  const { width, height } = frame.dataset
  if (width) frame.style.width = `${width}px`
  if (height) frame.style.height = `${height}px`
}

const MAX_CHART_PIXELS = 10_000
/** Time without a new drawing before the image of a chart is made, and time after which it is made anyway, in ms. */
const PICTURE_DELAY_MS = 500
const MAX_PICTURE_DELAY_MS = 10_000

/** The image of a chart for printing, with the timer of the next one, and when that is due, in ms of `performance.now()`. */
interface Picture {
  image: HTMLImageElement
  timer?: ReturnType<typeof setTimeout>
  due: number
}

/** Images of charts: a printed page has only the part of a frame that is seen. */
const pictures = new WeakMap<HTMLIFrameElement, Picture>()

/** Asks for the image of a chart soon. */
function askForPicture(frame: HTMLIFrameElement): void {
  const never = Number.POSITIVE_INFINITY
  const picture: Picture = pictures.get(frame) ?? { image: document.createElement('img'), due: never }
  pictures.set(frame, picture)
  const now = performance.now()
  picture.due = Math.min(picture.due, now + MAX_PICTURE_DELAY_MS)
  clearTimeout(picture.timer)
  picture.timer = setTimeout(
    () => {
      picture.due = never
      frame.contentWindow?.postMessage({ type: 'gridline:print' }, '*')
    },
    Math.min(PICTURE_DELAY_MS, picture.due - now),
  )
}

// Charts that grow with their rows send their height.
addEventListener('message', ({ data, source }) => {
  const frames = [...document.querySelectorAll<HTMLIFrameElement>('iframe.chart, .board iframe:not(.sheet)')]
  const frame = frames.find((one) => one.contentWindow === source)
  if (!frame) return
  if (data?.type === 'gridline:picture' && /^data:image\/svg\+xml,/.test(String(data.url))) {
    const image = pictures.get(frame)?.image
    if (!image) return
    image.className = 'printed'
    image.alt = frame.title
    image.src = data.url
    frame.after(image)
  }
  if (data?.type === 'gridline:changed') askForPicture(frame)
  if (data?.type !== 'gridline:drawn') return
  if (!data.failed) askForPicture(frame)
  if (frame.dataset.height) return
  const height = Math.min(Number(data.height), MAX_CHART_PIXELS)
  if (height > frame.clientHeight) frame.style.height = `${height}px`
})

/** Maximum number of retries of an image that was not drawn. */
const MAX_RETRIES = 4
/** Delay before the first retry, in ms. It doubles each time. */
const FIRST_WAIT_MS = 2000

// A busy server draws thumbnails later: try again, and show only their frames until then.
for (const picture of document.querySelectorAll<HTMLImageElement>('.thumb img')) {
  let tries = 0
  const retry = (): void => {
    picture.style.visibility = 'hidden'
    if (tries === MAX_RETRIES) return
    // Setting the same URL loads the image again.
    const { src } = picture
    setTimeout(
      () => {
        picture.src = src
      },
      FIRST_WAIT_MS * 2 ** tries++,
    )
  }
  picture.addEventListener('load', () => {
    picture.style.visibility = ''
  })
  picture.addEventListener('error', retry)
  // It failed before this script was loaded.
  if (picture.complete && picture.naturalWidth === 0) retry()
}

const { add } = (document.currentScript as HTMLScriptElement).dataset
const loading = new Map<string, Promise<void>>()

/** Loads a script once; again if it has failed. */
function loadOnce(src: string): Promise<void> {
  const loaded = loading.get(src) ?? loadScript(src, 'a part of the page')
  loading.set(src, loaded)
  loaded.catch(() => loading.delete(src))
  return loaded
}

/** Actions that an address can open: they change nothing by themselves. */
const HASH_ACTIONS: ReadonlySet<string> = new Set(['edit', 'make', 'rows'])

// A button with an action loads its script when it is first pressed.
for (const button of document.querySelectorAll<HTMLButtonElement>('[data-action]')) {
  const act = async (): Promise<void> => {
    try {
      await loadOnce(button.dataset.script!)
      button.dispatchEvent(new CustomEvent('gridline:action', { bubbles: true }))
    } catch (error) {
      showOnButton(button, (error as Error).message)
    }
  }
  button.hidden = false
  button.addEventListener('click', act)
  // A link to the page can name the action: `#edit`.
  if (HASH_ACTIONS.has(button.dataset.action!) && location.hash === `#${button.dataset.action}`) act()
}

/** A file with its folder below the place where it was dropped. */
interface Dropped {
  file: File
  folder: string
}

/** Maximum number of files that are taken at once. */
const MAX_DROPPED = 10_000

/** Lists the files of a dropped file or folder. */
async function listEntry(entry: FileSystemEntry, folder: string, found: Dropped[]): Promise<void> {
  if (found.length >= MAX_DROPPED) return
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    )
    found.push({ file, folder })
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  for (;;) {
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (entries.length === 0) return
    for (const inner of entries)
      await listEntry(inner, folder === '' ? entry.name : `${folder}/${entry.name}`, found)
  }
}

/** Adds what was dropped or pasted. */
async function addData(detail: { files?: Dropped[]; text?: string }): Promise<void> {
  await loadOnce(add!)
  dispatchEvent(new CustomEvent('gridline:files', { detail }))
}

const hasFiles = (transfer: DataTransfer | null): boolean => transfer?.types.includes('Files') === true

if (add) {
  addEventListener('dragover', (event) => {
    if (!hasFiles(event.dataTransfer)) return
    event.preventDefault()
    document.body.classList.add('dropping')
  })
  addEventListener('dragleave', () => document.body.classList.remove('dropping'))
  addEventListener('drop', async (event) => {
    document.body.classList.remove('dropping')
    if (!hasFiles(event.dataTransfer)) return
    event.preventDefault()
    const { items } = event.dataTransfer!
    // The items are gone after the first wait.
    const entries = [...items].flatMap((item) => item.webkitGetAsEntry?.() ?? [])
    const plain = [...event.dataTransfer!.files].map((file) => ({ file, folder: '' }))
    const found: Dropped[] = []
    for (const entry of entries) await listEntry(entry, '', found)
    await addData({ files: found.length > 0 ? found : plain })
  })
  addEventListener('paste', (event) => {
    if ((event.target as Element).closest?.('input, textarea, [contenteditable]')) return
    const text = event.clipboardData?.getData('text/plain') ?? ''
    if (!/[\t\n]/.test(text.trim())) return
    event.preventDefault()
    addData({ text })
  })
}
