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

export {}
