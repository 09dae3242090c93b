/// <reference lib="dom" />
// Follows the tables and numbers of a board by one stream of events. Charts follow by themselves.

/** Follows a board: when a stream says that something has changed, loads its page, and shows what is new. */
export function followBoard(board: HTMLElement): void {
  const events = new EventSource(board.dataset.follow!)
  let known: string | undefined
  let update = Promise.resolve()
  events.addEventListener('state', ({ data }) => {
    const isNew = known !== undefined && known !== data
    known = data
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
