// Recognizes rows that hold totals.

/** Labels of rows that hold totals. */
const TOTAL_LABEL =
  /^(?:(?:grand|sub|column)[- ]?)?totals?(?: général| general)?:?$|^(?:gesamt(?:summe|betrag)?|summen?|zwischensumme|insgesamt|somme|totaux|totale|totaal|suma|soma|summa|razem|celkem|összesen|toplam|итого|всего|合計|总计|總計|합계):?$/i

/** Returns whether the first cell of a row labels it as a total. */
export function isTotal(cell: string): boolean {
  return TOTAL_LABEL.test(cell.trim())
}

/** Returns whether a cell with this first byte can label a total. Fast, with false positives. */
export function canBeTotal(byte: number): boolean {
  return byte >= 0x80 || FIRST_LETTERS.includes(byte | 0x20)
}

const FIRST_LETTERS = [...Buffer.from('cgirstz ')]
