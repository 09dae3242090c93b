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

// The form that changes a chart, for those who may: its script is loaded when it is opened.
const edit = document.getElementById('edit')
if (edit?.dataset.script) {
  edit.hidden = false
  edit.addEventListener(
    'toggle',
    () => {
      const script = document.createElement('script')
      script.src = edit.dataset.script!
      document.head.append(script)
    },
    { once: true },
  )
}

export {}
