/** Runs checks on a table. See docs/checks.md. */
import {
  type Checks,
  type ColumnRule,
  expectedBy,
  percentText,
  type TableRule,
  type ValueRule,
  type WithSeverity,
} from '../../../checks/index.ts'
import { counted, listed } from '../../../contract/closest.ts'
import { Problem } from '../../../contract/errors.ts'
import type { CheckReport, CheckResult, FailedRow } from '../../../contract/resources/index.ts'
import { Work } from '../../../json/index.ts'
import { parseWhere } from '../../../query/index.ts'
import { familyOf } from '../../store/schema/column-types.ts'
import { longestText, type Snapshot, type SnapshotColumn } from '../column/content.ts'
import { CellReader, RowHashes } from '../column/kernel/cells.ts'
import { ChunkedTable, type Part, partsOf } from '../diff/chunks.ts'
import { diffTables, MAX_ROWS } from '../diff/diff.ts'
import { RowIndex } from '../diff/sequence.ts'
import { matchingRows, testOf as rowTestOf } from '../read/where.ts'
import { missingIn, testOf, type ValueTest } from './values.ts'

/** Rows that a result lists, and a report in all. */
const MAX_LISTED = 20
const MAX_LISTED_IN_ALL = 2000
/** Characters of a value that is listed. */
const MAX_CHARACTERS = 200
/** Work of preparing a rule, and of matching a character with the library of patterns. */
const RULE_UNITS = 10_000
const MATCHED_UNITS = 20

export interface Checked {
  /** The whole table, as it is after a write. */
  snap: Snapshot
  /** Rows from here on are new: rules of single values are for these. */
  from?: number
  /** The line of a file that a row of the table is from. */
  lineOf?: (row: number) => number | undefined
  /** The version before; undefined: there is none. */
  before?: Snapshot
  /** Whether both are versions of one grid, so that columns are the same by their uids. */
  key?: readonly string[]
  /** Columns that plots use: those that the table lacks. Undefined: it is no grid. */
  lostColumns?: readonly string[]
  work?: Work
}

/** Runs all rules. Throws `bad_checks` if they make no sense, for example a pattern. */
export async function runChecks(checks: Checks, checked: Checked): Promise<CheckReport> {
  const { snap } = checked
  const results: CheckResult[] = []
  const reader = CellReader.open(Math.max(0, ...snap.columns.map(longestText)))
  try {
    const run = new Run(checks, checked, reader)
    for (const rule of checks.table) {
      results.push(await run.table(rule))
      await run.work.take(RULE_UNITS)
    }
    const groups: ColumnGroup[] = []
    const named = new Map(snap.columns.map((column) => [column.name, column]))
    for (const { column, rules } of checks.columns) {
      const found = named.get(column)
      if (found) groups.push(await run.group(found, rules))
    }
    await run.read(groups)
    let next = 0
    for (const { column, isOptional, rules } of checks.columns) {
      await run.work.take(RULE_UNITS)
      if (named.has(column)) results.push(...(await run.column(groups[next++])))
      else if (!isOptional)
        results.push(...rules.map((rule) => result(rule, column, cannot(`there is no column ${column}`))))
    }
  } finally {
    reader.release()
  }
  const failed = (severity: string): number =>
    results.filter((one) => !one.passed && one.severity === severity).length
  const errors = failed('error')
  return { passed: errors === 0, row_count: snap.rows, errors, warnings: failed('warn'), results }
}

type Outcome = Pick<CheckResult, 'passed' | 'count' | 'message' | 'rows'>

const PASSED: Outcome = { passed: true, count: null, message: null, rows: [] }

function failed(message: string): Outcome {
  return { passed: false, count: null, message, rows: [] }
}

function cannot(why: string): Outcome {
  return failed(`cannot run: ${why}`)
}

function result(
  rule: WithSeverity<ColumnRule | TableRule>,
  column: string | null,
  outcome: Outcome,
): CheckResult {
  return { column, rule: rule.rule, expected: expectedBy(rule), severity: rule.severity, ...outcome }
}

class Run {
  private readonly isMissing: (value: unknown) => boolean
  private readonly names: readonly string[]
  private readonly has: ReadonlySet<string>
  private readonly from: number
  readonly work: Work
  /** Parts of columns: several groups of rules can be of one column. */
  private readonly parts = new Map<SnapshotColumn, readonly Part[]>()

  constructor(
    private readonly checks: Checks,
    private readonly checked: Checked,
    private readonly reader: CellReader,
  ) {
    this.isMissing = missingIn(checks)
    this.names = checked.snap.columns.map(({ name }) => name)
    this.has = new Set(this.names)
    this.from = checked.from ?? 0
    this.work = checked.work ?? new Work(undefined, 'user')
  }

  private valuesOf(column: SnapshotColumn): ColumnValues {
    const parts = this.parts.get(column) ?? partsOf(this.checked.snap, column)
    this.parts.set(column, parts)
    return new ColumnValues(parts, column, this.isMissing, this.work)
  }

  /** The rules of a column, and what has to be read for them: only where values can break one. */
  async group(column: SnapshotColumn, rules: readonly WithSeverity<ColumnRule>[]): Promise<ColumnGroup> {
    const tests: ColumnGroup['tests'] = new Map()
    for (const rule of rules) {
      await this.work.take(RULE_UNITS)
      if (isValueRule(rule))
        tests.set(rule, { test: await testOf(rule, this.checks), broken: { count: 0, rows: [] } })
    }
    const isUnique = rules.some(({ rule }) => rule === 'unique') && this.checked.snap.rows <= MAX_ROWS
    const unique = isUnique
      ? { hashes: new RowHashes(this.checked.snap.rows), ascending: new Set<number>() }
      : undefined
    return {
      column,
      rules,
      tests,
      unique,
      values: this.valuesOf(column),
    }
  }

  /** Reads the values of columns once, for all of their rules. */
  async read(groups: readonly ColumnGroup[]): Promise<void> {
    for await (const { group, part, open, text } of loaded(wantedParts(groups, this.from), this.work)) {
      if (group.unique) {
        const { hashes, ascending } = group.unique
        if (this.reader.ascends(text)) ascending.add(part.from)
        else this.reader.hash(text, hashes, part.from, false)
      }
      await group.values.look(this.reader, part, text, open, this.from)
    }
  }

  async column({ column, rules, tests, values, unique }: ColumnGroup): Promise<CheckResult[]> {
    const results: CheckResult[] = []
    for (const rule of rules) {
      const test = tests.get(rule)
      const outcome = test
        ? this.values(rule as ValueRule, test.broken, column.type)
        : await this.whole(rule, column, values, unique)
      results.push(result(rule, column.name, outcome))
    }
    return results
  }

  private values(rule: ValueRule, { count, rows }: Broken, type: string): Outcome {
    if (count === 0) return { ...PASSED, count }
    const checked = this.checked.snap.rows - this.from
    const [one, several] = WRONG[rule.rule]
    return {
      passed: false,
      count,
      message: `${count} of ${counted(checked, 'value')} ${count === 1 ? one : several}${isCompared(rule, type) ? '' : ', or cannot be compared'}`,
      rows: this.some(rows).map(({ row, value }) => this.row(row, value)),
    }
  }

  /** Rows that may still be listed: of many rules that fail, the first ones say enough. */
  private left = MAX_LISTED_IN_ALL

  private row(row: number, value: unknown, first?: number): FailedRow {
    const place = (one: number): { row: number; line: number | null } => ({
      row: one + 1,
      line: this.checked.lineOf?.(one) ?? null,
    })
    return {
      ...place(row),
      value: shortened(value) as FailedRow['value'],
      ...(first !== undefined && { same_as: place(first) }),
    }
  }

  private some<T>(rows: readonly T[]): readonly T[] {
    const some = rows.slice(0, this.left)
    this.left -= some.length
    return some
  }

  private async whole(
    rule: ColumnRule,
    column: SnapshotColumn,
    values: ColumnValues,
    known: KnownHashes | undefined,
  ): Promise<Outcome> {
    if ('cannot' in rule) return cannot(rule.cannot)
    if (rule.rule === 'unique') return this.unique([column], false, known)
    const { rows } = this.checked.snap
    if (rule.rule === 'nulls' && 'most' in rule) {
      const count = await values.missing()
      const share = rows === 0 ? 0 : count / rows
      if (share <= rule.most) return { ...PASSED, count }
      return { ...failed(`${count} of ${counted(rows, 'value')} are missing (${percentText(share)})`), count }
    }
    if (rule.rule === 'max_age' && 'ms' in rule) {
      if (!['date', 'datetime', 'text', 'empty'].includes(familyOf(column.type)))
        return cannot('the column has no dates')
      const newest = await values.newest()
      if (newest === undefined) return failed('there are no values')
      const at = timeOf(newest)
      if (at === undefined) return cannot(`${JSON.stringify(newest)} is no date`)
      return Date.now() - at <= rule.ms ? PASSED : failed(`the newest value is ${newest}`)
    }
    return cannot(`unknown rule ${rule.rule}`)
  }

  async table(rule: WithSeverity<TableRule>): Promise<CheckResult> {
    return result(rule, null, await this.outcomeOf(rule))
  }

  private async outcomeOf(rule: TableRule): Promise<Outcome> {
    const { snap, before, lostColumns } = this.checked
    if ('cannot' in rule) return cannot(rule.cannot)
    const { names, has } = this
    switch (rule.rule) {
      case 'columns':
        return 'column' in rule && has.has(rule.column)
          ? PASSED
          : failed(`the column is missing; there are: ${listed(names)}`)
      case 'rows':
        return isWithin(snap.rows, 'range' in rule ? rule.range : {})
          ? PASSED
          : failed(`there are ${counted(snap.rows, 'row')}`)
      case 'plot_columns':
        if (!lostColumns || lostColumns.length === 0) return PASSED
        return failed(`plots use columns that are missing: ${listed(lostColumns)}`)
      case 'change.rows':
        return before ? changeOf(before.rows, snap.rows, 'range' in rule ? rule.range : {}) : PASSED
      case 'change.removed':
        return before && 'most' in rule ? this.removed(before, rule.most) : PASSED
    }
    if ('where' in rule) return this.where(rule.where)
    if (!('columns' in rule)) return cannot('unknown rule')
    const { columns } = rule
    if (rule.rule === 'extra_columns') {
      const listedOnes = new Set(columns)
      const extra = names.filter((name) => !listedOnes.has(name))
      return extra.length === 0
        ? PASSED
        : { ...failed(`${counted(extra.length, 'other column')}: ${listed(extra)}`), count: extra.length }
    }
    if (rule.rule === 'column_order') {
      const listedOnes = new Set(columns)
      const known = names.filter((name) => listedOnes.has(name))
      const wanted = columns.filter((name) => has.has(name))
      const at = known.findIndex((name, k) => name !== wanted[k])
      return at < 0 ? PASSED : failed(`${known[at]} is in the place of ${wanted[at]}`)
    }
    const found = columns.flatMap((name) => snap.columns.find((column) => column.name === name) ?? [])
    const lacking = columns.find((name) => !has.has(name))
    if (lacking !== undefined) return cannot(`there is no column ${lacking}`)
    return this.unique(found, rule.rule === 'key')
  }

  /** Rows for which a condition is false. As in SQL, one that is unknown, such as of a missing value, is no failure. */
  private async where(text: string): Promise<Outcome> {
    const { snap } = this.checked
    let broken: ReturnType<typeof rowTestOf>
    try {
      const { expression } = parseWhere(text)
      broken = rowTestOf({ text, expression: { kind: 'not', at: 0, of: expression } }, snap.columns)
    } catch (error) {
      if (error instanceof Problem) return cannot(error.message)
      throw error
    }
    const found = await matchingRows(snap, broken, this.work)
    const rows = [...found.part(0, MAX_LISTED)]
    if (rows.length === 0) return { ...PASSED, count: 0 }
    const columns = broken.columns.map((name) => snap.columns.find((column) => column.name === name)!)
    const values = await Promise.all(columns.map((column) => valuesAt(snap, column, rows)))
    return {
      passed: false,
      count: found.count,
      message: `${found.count} of ${counted(snap.rows, 'row')} ${found.count === 1 ? 'is' : 'are'} not so`,
      rows: this.some(rows).map((row, k) =>
        this.row(row, columns.map(({ name }, c) => `${name} ${values[c][k]}`).join(', ')),
      ),
    }
  }

  /** Rows whose values in some columns are those of another row. With `isKey`, also rows that miss one. */
  private async unique(
    columns: readonly SnapshotColumn[],
    isKey: boolean,
    known?: KnownHashes,
  ): Promise<Outcome> {
    const same = JSON.stringify([isKey, ...columns.map(({ name }) => name)])
    const found = this.uniques.get(same) ?? (await this.uniqueOf(columns, isKey, known))
    this.uniques.set(same, found)
    return found
  }

  /** What rules of the same columns have found. */
  private readonly uniques = new Map<string, Outcome>()

  private async uniqueOf(
    columns: readonly SnapshotColumn[],
    isKey: boolean,
    known: KnownHashes | undefined,
  ): Promise<Outcome> {
    await this.work.pause()
    const { snap } = this.checked
    if (snap.rows > MAX_ROWS) return cannot(`the table has more than ${MAX_ROWS} rows`)
    const table = new ChunkedTable(snap, columns, this.work)
    const rows = table.choose(table.chunks)
    const runs = columns.length === 1 ? runsOf(table.parts[0], rows) : [rows]
    const isApart = runs.length > 1 || table.parts[0]?.length === 1
    // Values that ascend are unique; where parts can have the same ones, they are compared as others.
    const ascending = known && isApart ? known.ascending : NO_ROWS
    const isKnown = known !== undefined && (isApart || known.ascending.size === 0)
    const hashes = isKnown ? known.hashes : new RowHashes(rows)
    if (!isKnown) for (const k of columns.keys()) await table.hash(this.reader, k, hashes, false)
    const missing = await this.rowsMissing(columns)
    // Parts whose values cannot be the same are looked at one by one: what is small is fast.
    const listedRows: { row: number; first?: number }[] = []
    let count = 0
    let [twice, without] = [0, 0]
    let start = 0
    for (const length of runs) {
      const end = start + length
      const index = ascending.has(start) ? undefined : new RowIndex(hashes, length)
      for (let row = start; index && row < end; row++) {
        if (this.work.spend(4)) await this.work.pause()
        let first: number | undefined
        if (missing?.has(row)) {
          if (!isKey) continue
          without++
        } else {
          first = index.add(row)
          if (first === undefined) continue
          twice++
        }
        count++
        if (listedRows.length < MAX_LISTED) listedRows.push({ row, first })
      }
      start = end
      await this.work.take(1)
    }
    if (count === 0) return { ...PASSED, count }
    const said = [
      twice > 0 && `${counted(twice, 'row')} ${twice === 1 ? 'is a duplicate' : 'are duplicates'}`,
      without > 0 && `${counted(without, 'row')} ${without === 1 ? 'has' : 'have'} no key`,
    ]
    const values = await Promise.all(
      columns.map((column) =>
        valuesAt(
          snap,
          column,
          listedRows.map(({ row }) => row),
        ),
      ),
    )
    return {
      passed: false,
      count,
      message: said.filter(Boolean).join(', '),
      rows: this.some(listedRows).map(({ row, first }, k) => {
        const value =
          columns.length === 1
            ? values[0][k]
            : columns.map(({ name }, c) => `${name} ${values[c][k]}`).join(', ')
        return this.row(row, value, first)
      }),
    }
  }

  /** Rows that miss a value in one of some columns. */
  private async rowsMissing(columns: readonly SnapshotColumn[]): Promise<Set<number> | undefined> {
    const found = new Set<number>()
    for (const column of columns) await this.valuesOf(column).missing((row) => found.add(row))
    return found.size > 0 ? found : undefined
  }

  private async removed(before: Snapshot, most: number): Promise<Outcome> {
    if (before.rows === 0) return PASSED
    const { snap, key = [] } = this.checked
    const had = (name: string): boolean => before.columns.some((column) => column.name === name)
    const has = (name: string): boolean => snap.columns.some((column) => column.name === name)
    const { rows } = await diffTables(
      { name: 'the version before', snap: before },
      { name: 'the new version', snap },
      { key: key.every((name) => had(name) && has(name)) ? key : [], work: this.work },
    )
    const share = rows.removed / before.rows
    return share <= most
      ? { ...PASSED, count: rows.removed }
      : {
          ...failed(`${counted(rows.removed, 'row')} of ${before.rows} are removed (${percentText(share)})`),
          count: rows.removed,
        }
  }
}

/** The lengths of runs of parts: no value of one can be in another. All rows are one run unless bounds say so. */
function runsOf(parts: readonly Part[], rows: number): number[] {
  const own = parts.filter(({ rows: count, bounds }) => bounds === undefined || bounds.nulls < count)
  const isOrdered = own.every(
    ({ bounds }, k) =>
      bounds?.low !== undefined &&
      bounds.high !== undefined &&
      (k === 0 || isBefore(own[k - 1].bounds!.high!, bounds.low)),
  )
  return isOrdered ? parts.map((part) => part.rows) : [rows]
}

/** Whether every value up to one is less than another: of numbers. */
function isBefore(high: string, low: string): boolean {
  return !high.startsWith('"') && !low.startsWith('"') && Number(high) < Number(low)
}

const NO_ROWS: ReadonlySet<number> = new Set()

/** What is wrong with one value, and with several. */
const WRONG: Readonly<Record<ValueRule['rule'], readonly [string, string]>> = {
  required: ['is missing', 'are missing'],
  type: ['has another type', 'have another type'],
  enum: ['is none of these', 'are none of these'],
  pattern: ['does not match', 'do not match'],
  minimum: ['is too low', 'are too low'],
  maximum: ['is too high', 'are too high'],
  length: ['has another length', 'have another length'],
}

/** Whether all values of a column of a type can be compared with the limit of a rule, if it has one. */
function isCompared(rule: ValueRule, type: string): boolean {
  if (rule.rule !== 'minimum' && rule.rule !== 'maximum') return true
  return typeof rule.value === 'number' ? type === 'number' : type.startsWith('date')
}

function isValueRule(rule: ColumnRule): rule is ValueRule {
  return !('cannot' in rule) && !['unique', 'nulls', 'max_age'].includes(rule.rule)
}

function isWithin(value: number, { from, to }: { from?: number; to?: number }): boolean {
  return (from === undefined || value >= from) && (to === undefined || value <= to)
}

function changeOf(before: number, after: number, range: { from?: number; to?: number }): Outcome {
  if (before === after && isWithin(0, range)) return PASSED
  const percent = before === 0 ? Number.POSITIVE_INFINITY : ((after - before) / before) * 100
  if (isWithin(percent, range)) return PASSED
  const by = before === 0 ? '' : ` (${percent > 0 ? '+' : ''}${Number(percent.toFixed(1))}%)`
  return failed(`the number of rows changes from ${before} to ${after}${by}`)
}

/** When a date or time is, in ms; of a day, its end. Times without a zone are UTC. */
function timeOf(text: string): number | undefined {
  const iso = text.replace(' ', 'T')
  const isDay = /^\d{4}-\d\d-\d\d$/.test(iso)
  const hasZone = /(Z|[+-]\d\d(:?\d\d)?)$/.test(iso.slice(10))
  const at = Date.parse(isDay ? iso : hasZone ? iso.replace(/([+-]\d\d)$/, '$1:00') : `${iso}Z`)
  return Number.isNaN(at) ? undefined : at + (isDay ? 86_400_000 : 0)
}

/** Values that an automaton does not accept are looked at one by one, if there are no more of a part. */
const FEW = 1000
/** Parts that are read ahead. */
const PREFETCHED_SLICES = 3

/** The values of a part, parsed when they are needed. */
class PartValues {
  private parsed: unknown[] | undefined
  private texts: unknown[] | undefined

  constructor(
    private readonly text: Buffer,
    private readonly isNumbers: boolean,
  ) {}

  /** All values; `asTexts`: numbers as they are written. */
  all(asTexts: boolean): readonly unknown[] {
    if (asTexts && this.isNumbers) {
      this.texts ??= this.text
        .toString('latin1')
        .split(',')
        .map((json) => (json.trim() === 'null' ? null : json.trim()))
      return this.texts
    }
    this.parsed ??= JSON.parse(`[${this.text.toString('utf8')}]`) as unknown[]
    return this.parsed
  }

  /** A value as it is listed. */
  shown(value: unknown): unknown {
    return this.isNumbers && typeof value === 'string' ? Number(value) : value
  }
}

/** A value as it is listed: long texts, and what is not a single value, are cut. */
function shortened(value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'object') return value
  if (value === null) return value
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length <= MAX_CHARACTERS ? value : `${text.slice(0, MAX_CHARACTERS)}…`
}

interface Broken {
  count: number
  rows: { row: number; value: unknown }[]
}

/** A test of values, and what it has found. */
interface Open {
  test: ValueTest
  broken: Broken
}

/** The rules of a column, with the tests of those that are about single values. */
interface ColumnGroup {
  column: SnapshotColumn
  rules: readonly WithSeverity<ColumnRule>[]
  tests: Map<ColumnRule, Open>
  values: ColumnValues
  /** Filled while values are read, if they must be unique. */
  unique: KnownHashes | undefined
}

/** Hashes of the values of a column. Of parts whose values ascend, by their first rows, there are none. */
interface KnownHashes {
  hashes: RowHashes
  ascending: Set<number>
}

/** Parts with their texts; the next ones are read meanwhile. */
async function* loaded<T extends { part: Part }>(
  parts: Iterator<T>,
  work: Work,
): AsyncGenerator<T & { text: Buffer }> {
  const pending: { one: T; text: Promise<Buffer> }[] = []
  let isOver = false
  try {
    for (;;) {
      while (!isOver && pending.length < PREFETCHED_SLICES) {
        const { value, done } = parts.next()
        isOver = done === true
        if (done) break
        const text = value.part.load()
        text.catch(() => {})
        pending.push({ one: value, text })
      }
      const next = pending.shift()
      if (!next) return
      work.spend(next.one.part.bytes)
      await work.pause()
      yield { ...next.one, text: await next.text }
    }
  } finally {
    await Promise.allSettled(pending.map(({ text }) => text))
  }
}

/** The parts that have to be read for groups of rules, from a row on. */
function* wantedParts(groups: readonly ColumnGroup[], from: number) {
  for (const group of groups) for (const one of group.values.wanted(group, from)) yield { ...one, group }
}

/** The values of a column, read part by part, as far as something has to be known of them. */
class ColumnValues {
  constructor(
    private readonly parts: readonly Part[],
    private readonly column: SnapshotColumn,
    private readonly isMissing: (value: unknown) => boolean,
    private readonly work: Work,
  ) {}

  /** The parts that have to be read from a row on, with the tests that they may not pass. */
  wanted({ tests, unique }: ColumnGroup, from: number): { part: Part; open: Open[] }[] {
    const all = [...tests.values()]
    return this.parts.flatMap((part) => {
      const { bounds, rows } = part
      const open = all.filter(
        ({ test }) =>
          part.from + rows > from &&
          !test.holdsFor(bounds, rows, this.column.type) &&
          (bounds?.nulls !== rows || test.takesMissing),
      )
      return unique || open.length > 0 ? [{ part, open }] : []
    })
  }

  /** Counts the values of a part that break tests. */
  async look(
    reader: CellReader,
    part: Part,
    text: Buffer,
    open: readonly Open[],
    from: number,
  ): Promise<void> {
    const family = familyOf(this.column.type)
    const isNumbers = family === 'number'
    const first = Math.max(0, from - part.from)
    const values = new PartValues(text, isNumbers)
    for (const { test, broken } of open) {
      // Values of several kinds are compared as they are meant.
      const isSimple = test.automaton && family !== 'json'
      const rows = isSimple ? reader.unaccepted(text, test.automaton!, FEW) : undefined
      if (rows?.length !== 0) await test.prepare?.()
      const count = (value: unknown, row: number): void => {
        if (row < first || (this.isMissing(value) ? !test.takesMissing : !test.breaks(value))) return
        broken.count++
        if (broken.rows.length < MAX_LISTED)
          broken.rows.push({ row: part.from + row, value: values.shown(value) })
      }
      await this.work.take(text.length)
      if (rows)
        for (const [k, { buf, start, end }] of reader.find(text, rows).entries()) {
          const json = buf.toString('utf8', start, end)
          count(test.takesTexts && isNumbers ? json : JSON.parse(json), rows[k])
        }
      else
        for (const [row, value] of values.all(test.takesTexts === true).entries()) {
          count(value, row)
          const units = typeof value === 'string' ? value.length : 1
          if (this.work.spend(test.prepare ? units * MATCHED_UNITS : units)) await this.work.pause()
        }
    }
  }

  /** How many values are missing. */
  async missing(each?: (row: number) => void): Promise<number> {
    let count = 0
    for (const part of this.parts) {
      const { bounds } = part
      // Without other texts that are missing, bounds say it.
      const isNoText = bounds?.low !== undefined && !bounds.low.startsWith('"')
      if (bounds && !each && (isNoText || bounds.nulls === part.rows)) count += bounds.nulls
      else if (bounds?.nulls === 0 && isNoText) continue
      else
        for (const [k, value] of (await this.valuesOf(part)).entries()) {
          if (!this.isMissing(value)) continue
          count++
          each?.(part.from + k)
        }
    }
    return count
  }

  /** The greatest text. Bounds may be wider than the values: they say only which parts need not be read. */
  async newest(): Promise<string | undefined> {
    const highOf = ({ bounds }: Part): string | undefined => {
      const high: unknown = bounds?.high === undefined ? undefined : JSON.parse(bounds.high)
      return typeof high === 'string' ? high : undefined
    }
    const parts = this.parts
      .filter(({ bounds, rows }) => bounds?.nulls !== rows)
      .map((part) => ({ part, high: highOf(part) }))
      .sort((a, b) => (a.high === b.high ? 0 : a.high === undefined || (b.high ?? '') < a.high ? -1 : 1))
    let newest: string | undefined
    for (const { part, high } of parts) {
      if (newest !== undefined && high !== undefined && high <= newest) continue
      for (const value of await this.valuesOf(part))
        if (!this.isMissing(value) && (newest === undefined || String(value) > newest)) newest = String(value)
    }
    return newest
  }

  private async valuesOf(part: Part): Promise<unknown[]> {
    const text = await part.load()
    this.work.spend(text.length)
    await this.work.pause()
    return JSON.parse(`[${text.toString('utf8')}]`) as unknown[]
  }
}

/** The values of some rows, ascending. */
async function valuesAt(snap: Snapshot, column: SnapshotColumn, rows: readonly number[]): Promise<unknown[]> {
  const found: unknown[] = []
  for (const part of partsOf(snap, column)) {
    const own = rows.filter((row) => row >= part.from && row < part.from + part.rows)
    if (own.length === 0) continue
    const values = JSON.parse(`[${(await part.load()).toString('utf8')}]`) as unknown[]
    found.push(...own.map((row) => values[row - part.from]))
  }
  return found
}
