/** Labels of rows that hold totals. */
const TOTAL =
  /^(?:(?:grand|sub|column)[- ]?)?totals?(?: général| general)?:?$|^(?:gesamt(?:summe|betrag)?|summen?|zwischensumme|insgesamt|somme|totaux|totale|totaal|suma|soma|summa|razem|celkem|összesen|toplam|итого|всего|合計|总计|總計|합계):?$/i

/** Returns whether the first cell of a row says that it holds totals. */
export function isTotal(cell: string): boolean {
  return TOTAL.test(cell.trim())
}

/**
 * Returns whether a cell that begins with a byte can be one: the first letters of these words, and all that
 * is not ASCII.
 */
export function mayBeTotal(byte: number): boolean {
  return byte >= 0x80 || FIRST.includes(byte | 0x20)
}

const FIRST = [...Buffer.from('cgirstz ')]
