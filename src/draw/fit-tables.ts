/// <reference lib="dom" />
// Fits the tables of a document into its width, since nobody can scroll a picture.

/**
 * Shrinks tables that are wider than their place. Columns for which they would be too small are left out, and a line
 * says so. Runs in the page, so it uses nothing else of this module.
 */
export function fitTables(): void {
  const MIN_ZOOM = 0.5
  for (const place of document.querySelectorAll<HTMLElement>('.scroll')) {
    const table = place.querySelector('table')
    if (!table || table.scrollWidth <= place.clientWidth) continue
    let omitted = 0
    while (table.scrollWidth * MIN_ZOOM > place.clientWidth && table.rows[0].cells.length > 1) {
      for (const { lastElementChild } of table.rows) lastElementChild?.remove()
      omitted++
    }
    const width = table.scrollWidth
    if (width > place.clientWidth) table.style.setProperty('zoom', String(place.clientWidth / width))
    if (omitted === 0) continue
    const note = document.createElement('p')
    note.className = 'source'
    note.textContent = omitted === 1 ? '1 more column is not shown' : `${omitted} more columns are not shown`
    place.after(note)
  }
}
