/// <reference lib="dom" />
// A click on a value in the rows of a grid offers the rows with this value.
import { hasLineEnds, LINE_ENDS_PARAMETER, showLineEnds } from '../contract/web/line-ends.ts'

/** Returns the condition that a cell of a grid is a part of: `city = 'Oslo'`. Undefined for JSON. */
function conditionOf(cell: HTMLTableCellElement): string | undefined {
  // The name of the column, as conditions have it.
  const { column, type } = cell.closest('table')?.tHead?.rows[0].cells[cell.cellIndex]?.dataset ?? {}
  if (!column || type === 'mixed') return undefined
  const text = cell.textContent ?? ''
  if (text === '') return type === 'text' ? `(${column} is null or ${column} = '')` : `${column} is null`
  if (cell.classList.contains('n')) return `${column} = ${text}`
  // A long text is cut on the page.
  if (text.endsWith('…'))
    return `${column} like '${text
      .slice(0, 50)
      .replace(/[\ud800-\udbff]$/, '')
      .replaceAll("'", "''")
      .replaceAll(/[%_\\]/g, '_')}%'`
  return type === 'boolean' ? `${column} = ${text}` : `${column} = '${text.replaceAll("'", "''")}'`
}

const whereField = document.querySelector<HTMLInputElement>('form.filter input[name=where]')
if (whereField) {
  const offer = document.createElement('button')
  offer.type = 'button'
  let picked: HTMLElement | undefined
  document.querySelector('main .scroll table tbody')?.addEventListener('click', ({ target }) => {
    const cell = (target as Element).closest('td')
    // While cells are corrected, they can be focused.
    const condition = cell && cell.tabIndex < 0 ? conditionOf(cell) : undefined
    picked?.classList.remove('picked')
    picked = undefined
    offer.remove()
    if (!cell || condition === undefined) return
    picked = cell
    cell.classList.add('picked')
    offer.textContent = `Only rows where ${condition.slice(0, 80)}`
    offer.onclick = () => {
      const { value, form } = whereField
      const isShown = form!.querySelector(`[name=${LINE_ENDS_PARAMETER}]`) !== null
      const showsEnds = isShown || hasLineEnds(condition)
      const before = showsEnds && !isShown ? showLineEnds(value) : value
      const added = showsEnds ? showLineEnds(condition) : condition
      whereField.value = before.trim() === '' ? added : `(${before}) and ${added}`
      if (showsEnds && !isShown)
        form!.append(
          Object.assign(document.createElement('input'), {
            type: 'hidden',
            name: LINE_ENDS_PARAMETER,
            value: '1',
          }),
        )
      form!.requestSubmit()
    }
    // In the row of the form, so that the table stays where it is.
    whereField.form!.append(offer)
  })
}
