/// <reference lib="dom" />
// Buttons of a file page. The page works without this script.

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

// Charts that grow with their rows send their height.
addEventListener('message', ({ data, source }) => {
  const frame = document.querySelector<HTMLIFrameElement>('iframe.chart')
  if (frame?.contentWindow !== source || data?.type !== 'gridline:drawn' || frame?.dataset.height) return
  const height = Math.min(Number(data.height), MAX_CHART_PIXELS)
  if (height > frame.clientHeight) frame.style.height = `${height}px`
})

const MAX_CHART_PIXELS = 10_000

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

/** Loads the script that an element names in `data-script`. */
function loadScriptOf({ dataset }: HTMLElement): void {
  const script = document.createElement('script')
  script.src = dataset.script!
  document.head.append(script)
}

/** Scripts that were loaded, by URL. */
const loadedScripts = new Set<string>()

// Buttons open an element. The first time, they load its script, which opens it; then, they tell it.
for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-opens]')) {
  const opened = document.getElementById(button.dataset.opens!)!
  const open = (): void => {
    const { script = '' } = opened.dataset
    if (!loadedScripts.has(script)) loadScriptOf(opened)
    else opened.dispatchEvent(new Event('edit:open'))
    loadedScripts.add(script)
  }
  button.hidden = false
  button.addEventListener('click', open)
  // A chart that was just created opens its form.
  if (location.hash === `#${opened.id}`) open()
}

const make = document.getElementById('make')
if (make) {
  make.hidden = false
  make.addEventListener('click', () => loadScriptOf(make), { once: true })
}

export {}
