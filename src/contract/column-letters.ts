// Names of the columns of sheets.

/** Returns the letters of a column, from 0: `A`, `Z`, `AA`. */
export function columnLettersOf(column: number): string {
  const above = Math.floor(column / 26)
  return (above > 0 ? columnLettersOf(above - 1) : '') + String.fromCharCode(65 + (column % 26))
}
