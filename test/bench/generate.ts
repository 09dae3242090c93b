/** The benchmark's CSV: mixed columns, the same bytes every time. About 58 bytes a row. */
import { closeSync, openSync, writeSync } from 'node:fs'

const cities = ['Oslo', 'Lima', 'Kyoto', 'Nairobi', 'Toronto', 'Porto', 'Chennai', 'Tromsø']
const notes = ['ok', 'checked twice', 'late, but fine', 'said "later"', 'n/a']

export function writeCsv(file: string, rows: number): void {
  const fd = openSync(file, 'w')
  let seed = 12345
  const random = (): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
    return seed / 0x7fffffff
  }
  let part = 'id,taken_at,city,price,amount,note\n'
  for (let i = 0; i < rows; i++) {
    const when = new Date(1_600_000_000_000 + i * 61_000).toISOString().slice(0, 19)
    const note = notes[Math.floor(random() * notes.length)]
    const cell = /[",]/.test(note) ? `"${note.replace(/"/g, '""')}"` : note
    part += `${i},${when},${cities[i % 8]},${(random() * 1000).toFixed(4)},${Math.floor(random() * 1e6)},${cell}\n`
    if (part.length > 1 << 20) {
      writeSync(fd, part)
      part = ''
    }
  }
  writeSync(fd, part)
  closeSync(fd)
}
