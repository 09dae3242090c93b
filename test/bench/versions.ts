/** Benchmarks of versions, diffs, keys and checks on a million rows. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Row } from './faults.ts'
import { median } from './measure.ts'

/** What the rows of this file need from the benchmark. */
export interface Tools {
  folder: string
  home: string
  /** Runs gridline on the local database; returns seconds and peak megabytes. */
  run(args: string[]): { seconds: number; megabytes: number }
  /** Returns medians of two commands, run alternately. */
  inTurn(ours: string[], theirs: string[]): [number, number]
}

const ROWS = 1_000_000

function table(change: (row: number) => string | undefined = () => undefined): string {
  let seed = 1
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
    return seed % below
  }
  const lines = ['id,email,price,status,day,qty']
  for (let k = 0; k < ROWS; k++) {
    const own = `${k},user${(k * 7919) % 1000003}@example.com,${(random(100_000) / 100).toFixed(2)},${['open', 'closed', 'lost'][random(3)]},2026-${String(1 + random(12)).padStart(2, '0')}-${String(1 + random(28)).padStart(2, '0')},${random(100)}`
    lines.push(change(k) ?? own)
  }
  return `${lines.join('\n')}\n`
}

const CHECKS = `columns:
  id: { type: integer, unique: true }
  email: { pattern: '[^@]+@[a-z.]+' }
  price: { minimum: 0, maximum: 1000 }
  status: { enum: [open, closed, lost] }
  day: { required: true }
table: { rows: 1.. }
`

const ms = (s: number): string => `${(s * 1000).toFixed(0)} ms`
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`

export function versions({ folder, home, run, inTurn }: Tools): Row[] {
  const at = (name: string, text: string): string => {
    const file = join(folder, name)
    writeFileSync(file, text)
    return file
  }
  const fresh = (): void => rmSync(home, { recursive: true, force: true })
  const size = (): number => {
    run(['admin', 'compact', '-q'])
    return statSync(join(home, 'gridline.db')).size
  }
  const plain = at('v-plain.csv', table())
  const lines = readFileSync(plain, 'utf8').split('\n')
  const variants: [string, string, string][] = [
    [
      'a row inserted at the top',
      [lines[0], '-1,a,1,open,2026-01-01,1', ...lines.slice(1)].join('\n'),
      '<= 6 %',
    ],
    [
      'a row inserted in the middle',
      lines.toSpliced(500_000, 0, '-1,a,1,open,2026-01-01,1').join('\n'),
      '<= 6 %',
    ],
    ['a row deleted', lines.toSpliced(250_000, 1).join('\n'), '<= 6 %'],
    ['one cell changed', lines.with(700_000, lines[700_000].replace(/,\d+$/, ',999')).join('\n'), '<= 3 %'],
  ]
  const rows: Row[] = []
  for (const [what, text, atLeast] of variants) {
    fresh()
    run(['upload', plain, '--name', 'g', '-q'])
    const before = size()
    run(['upload', at('v-changed.csv', text), '--name', 'g', '--on-conflict', 'replace', '-q'])
    const share = (size() - before) / before
    rows.push({
      what: `new bytes, 1 M x 6: ${what}`,
      ours: percent(share),
      theirs: '',
      ratio: share.toFixed(3),
      atLeast,
    })
  }
  const step = Math.floor(ROWS / 1000)
  const changed = at(
    'v-1000.csv',
    lines
      .map((line, k) =>
        k > 0 && k < lines.length - 1 && k % step === 0 ? line.replace(/,\d+$/, ',-1') : line,
      )
      .join('\n'),
  )
  run(['upload', changed, '--name', 'g', '--on-conflict', 'replace', '-q'])
  const diffs = Array.from({ length: 3 }, () => run(['diff', 'g', '--stat']))
  rows.push({
    what: 'diff of two versions, 1 M x 6, 1,000 rows changed',
    ours: `${ms(median(diffs.map(({ seconds }) => seconds)))}, ${median(diffs.map(({ megabytes }) => megabytes)).toFixed(0)} MB`,
    theirs: '',
    ratio: '',
    atLeast: '<= 1 s, 150 MB',
  })
  const reverts = Array.from({ length: 5 }, () => run(['revert', 'g']).seconds)
  const bare = Array.from({ length: 5 }, () => run(['show', 'g', '-q']).seconds)
  rows.push({
    what: 'revert of 1 M x 6, without the start of the command',
    ours: ms(median(reverts) - median(bare)),
    theirs: '',
    ratio: '',
    atLeast: '<= 100 ms',
  })
  const some = (from: number): string =>
    at(
      'v-some.csv',
      `id,qty\n${Array.from({ length: 1000 }, (_, k) => `${(from * 13 + k * 997) % (ROWS + 500)},${from}`).join('\n')}\n`,
    )
  const keyed: number[] = []
  for (let k = 0; k < 100; k++) keyed.push(run(['append', 'g', some(k), '--key', 'id', '-q']).seconds)
  for (const k of [0, 99])
    rows.push({
      what: `1,000 rows by key into 1 M, time ${k + 1}`,
      ours: ms(keyed[k]),
      theirs: '',
      ratio: '',
      atLeast: '<= 1.5 s',
    })
  const rules = at('v-rules.yml', CHECKS)
  const upload = ['upload', plain, '--name', 'g', '-q']
  const [withRules, without] = inTurn([...upload, '--checks', rules], upload)
  rows.push({
    what: 'upload of 1 M x 6 with 8 rules, against without',
    ours: ms(withRules),
    theirs: ms(without),
    ratio: (withRules / without).toFixed(2),
    atLeast: '<= 1.25',
  })
  return rows
}
