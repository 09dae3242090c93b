/// <reference lib="dom" />
// Follows the items of a board by one stream of events. Charts look when it says so.

/** Follows a board: when a stream says that something has changed, charts look, and the rest is loaded with the page. */
export function followBoard(board: HTMLElement): void {
  const events = new EventSource(board.dataset.follow!)
  let known: string | undefined
  let update = Promise.resolve()
  events.addEventListener('state', ({ data }) => {
    const isNew = known !== undefined && known !== data
    known = data
    if (isNew)
      for (const frame of board.querySelectorAll('iframe'))
        frame.contentWindow?.postMessage({ type: 'gridline:look' }, '*')
    if (isNew) update = update.then(() => load(board)).catch(() => {})
  })
}

/** Shows the rows of a filter when its value is chosen; without this script, its button does. */
export function submitFilters(form: HTMLFormElement): void {
  form.addEventListener('change', () => form.requestSubmit())
}

async function load(board: HTMLElement): Promise<void> {
  const response = await fetch(location.href)
  if (!response.ok) return
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const items = page.querySelectorAll('.board .item')
  const shown = board.querySelectorAll('.item')
  // The board itself has changed.
  if (items.length !== shown.length) {
    board.replaceChildren(...(page.querySelector('.board')?.childNodes ?? []))
    return
  }
  for (const [k, item] of shown.entries()) {
    const next = items[k]
    const frames = [item, next].map((one) => one.querySelector('iframe')?.src)
    // A frame would load again.
    if (frames[0] !== undefined && frames[0] === frames[1]) continue
    if (item.innerHTML !== next.innerHTML) item.replaceWith(next)
  }
}
