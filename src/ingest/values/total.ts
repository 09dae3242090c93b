// Recognizes rows that hold totals.

/** Labels of rows that hold totals. */
const TOTAL =
  /^(?:(?:grand|sub|column)[- ]?)?totals?(?: général| general)?:?$|^(?:gesamt(?:summe|betrag)?|summen?|zwischensumme|insgesamt|somme|totaux|totale|totaal|suma|soma|summa|razem|celkem|összesen|toplam|итого|всего|合計|总计|總計|합계):?$/i

/** Returns whether the first cell of a row labels it as a total. */
export function isTotal(cell: string): boolean {
  return TOTAL.test(cell.trim())
}

/** Returns whether a cell with this first byte can label a total. Fast, with false positives. */
export function mayBeTotal(byte: number): boolean {
  return byte >= 0x80 || FIRST.includes(byte | 0x20)
}

const FIRST = [...Buffer.from('cgirstz ')]
