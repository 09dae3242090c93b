/// <reference lib="dom" />
// Filters the files of an exported site by words.

const field = document.querySelector<HTMLInputElement>('#search')!
const items = [...document.querySelectorAll<HTMLElement>('li[data-text]')]
const none = document.querySelector<HTMLElement>('#none')!

/** Shows the items that have all words. */
function filterItems(): void {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
  let shown = 0
  for (const item of items) {
    item.hidden = !words.every((word) => item.dataset.text!.includes(word))
    if (!item.hidden) shown++
  }
  none.hidden = shown > 0
}

field.hidden = false
field.addEventListener('input', filterItems)
filterItems()
