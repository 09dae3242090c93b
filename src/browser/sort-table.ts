/// <reference lib="dom" />
// Sorts the rows of a table in a page that is one file. Each column has a button; a second press reverses the order.

const body = document.querySelector('tbody')!
const heads = [...document.querySelectorAll('th')]

/** Compares two cells. Empty ones are last in both orders. */
function createComparison(isNumber: boolean, direction: number): (a: string, b: string) => number {
  const compare = isNumber
    ? (a: string, b: string) => Number(a) - Number(b)
    : (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
  return (a, b) => (a === '' || b === '' ? Number(a === '') - Number(b === '') : direction * compare(a, b))
}

for (const [k, head] of heads.entries())
  head.querySelector('button')!.addEventListener('click', () => {
    const isDescending = head.getAttribute('aria-sort') === 'ascending'
    const compare = createComparison(head.dataset.type === 'number', isDescending ? -1 : 1)
    const rows = [...body.rows].map((row) => ({ row, text: row.cells[k].textContent! }))
    body.append(...rows.sort((a, b) => compare(a.text, b.text)).map(({ row }) => row))
    for (const one of heads) one.removeAttribute('aria-sort')
    head.setAttribute('aria-sort', isDescending ? 'descending' : 'ascending')
  })
