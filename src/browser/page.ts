/// <reference lib="dom" />
// The page of a file: its buttons. Without this script, everything else works.

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
  button.hidden = false
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset.copy!) as HTMLElement
    try {
      await navigator.clipboard.writeText(source.textContent ?? '')
      say(button, 'Copied')
    } catch {
      // No permission, or not a secure origin: select the text instead.
      getSelection()?.selectAllChildren(source)
      say(button, 'Press Ctrl+C to copy')
    }
  })
}

function say(button: HTMLButtonElement, text: string): void {
  const before = button.textContent
  button.textContent = text
  setTimeout(() => {
    button.textContent = before
  }, 2000)
}

const form = document.getElementById('embed-form') as HTMLFormElement | null
const snippet = document.getElementById('embed')
if (form && snippet) {
  const usual = snippet.textContent ?? ''
  form.hidden = false
  form.addEventListener('submit', (event) => event.preventDefault())
  form.addEventListener('input', () => {
    const { width, height, theme } = Object.fromEntries(new FormData(form)) as Record<string, string>
    snippet.textContent = usual
      .replace(/width="[^"]*"/, () => `width="${attribute(width || '100%')}"`)
      .replace(/height="[^"]*"/, () => `height="${attribute(height || '500')}"`)
      .replace(/src="([^"]*)"/, (_, url: string) =>
        theme ? `src="${url}${url.includes('?') ? '&amp;' : '?'}theme=${theme}"` : `src="${url}"`,
      )
  })
}

/** A size, as it can stand in an attribute. */
function attribute(size: string): string {
  return /^\d{1,4}(?:px|%)?$/.test(size.trim()) ? size.trim() : '100%'
}

// A chart whose layout has a size.
for (const frame of document.querySelectorAll<HTMLIFrameElement>('iframe.chart')) {
  const { width, height } = frame.dataset
  if (width) frame.style.width = `${width}px`
  if (height) frame.style.height = `${height}px`
}

// A chart that needs more height for its rows says so.
addEventListener('message', ({ data, source }) => {
  const frame = document.querySelector<HTMLIFrameElement>('iframe.chart')
  if (frame?.contentWindow !== source || data?.type !== 'gridline:drawn' || frame?.dataset.height) return
  const height = Math.min(Number(data.height), MAX_CHART_PIXELS)
  if (height > frame.clientHeight) frame.style.height = `${height}px`
})

const MAX_CHART_PIXELS = 10_000

/** How often a picture is asked for again that was not drawn, and the first wait, in ms. */
const MAX_TRIES = 4
const FIRST_WAIT_MS = 2000

// Pictures of charts in lists: a busy server draws them later. Until then, there is their frame alone.
for (const picture of document.querySelectorAll<HTMLImageElement>('.thumb img')) {
  let tries = 0
  const again = (): void => {
    picture.style.visibility = 'hidden'
    if (tries === MAX_TRIES) return
    // The same address again: it is loaded again, in whichever colors.
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
  picture.addEventListener('error', again)
  // It was not drawn before this script was loaded.
  if (picture.complete && picture.naturalWidth === 0) again()
}

/** Loads the script that an element names. */
function load({ dataset }: HTMLElement): void {
  const script = document.createElement('script')
  script.src = dataset.script!
  document.head.append(script)
}

const make = document.getElementById('make')
if (make) {
  make.hidden = false
  make.addEventListener('click', () => load(make), { once: true })
}

// The form that changes a chart, for those who may: its script is loaded when it is opened.
const edit = document.getElementById('edit')
if (edit?.dataset.script) {
  edit.hidden = false
  edit.addEventListener('toggle', () => load(edit), { once: true })
  // Where a chart was just made.
  if (location.hash === '#edit') (edit as HTMLDetailsElement).open = true
}

export {}
