// Runs checks on a table. See docs/checks.md.
import {
  type Checks,
  type ColumnRule,
  describeColumnRule,
  describeTableRule,
  type TableRule,
  type ValueRule,
  type WholeColumnRule,
  type WithSeverity,
} from '../../../checks/index.ts'
import { formatCount } from '../../../contract/message-texts.ts'
import type { CheckReport, CheckResult, FailedRow } from '../../../contract/resources/index.ts'
import { loadAhead, Work } from '../../../json/index.ts'
import { longestText, type SnapshotColumn } from '../column/content.ts'
import { CellReader, RowHashes } from '../column/kernel/cells.ts'
import { type Part, partsOf } from '../column/parts.ts'
import { MAX_ROWS } from '../diff/diff.ts'
import { columnRunners, type ReadColumn } from './column-rules.ts'
import { type Broken, ColumnValues, type KnownHashes, type Open } from './column-values.ts'
import { type Checked, cannotRun, type Outcome, PASSED, type Run } from './outcome.ts'
import { tableRunners } from './table-rules.ts'
import { findDuplicates } from './unique.ts'
import { isComparable, isValueRule, missingIn, testOf, valueRules } from './value-rules.ts'

/** Rows that a report lists in all. */
const MAX_LISTED_IN_ALL = 2000
/** Characters of a value that is listed. */
const MAX_CHARACTERS = 200
/** Work of preparing a rule. */
const RULE_UNITS = 10_000

/** Runs all rules. Throws `bad_checks` if they make no sense, for example a pattern. */
export async function runChecks(checks: Checks, checked: Checked): Promise<CheckReport> {
  const { snap } = checked
  const results: CheckResult[] = []
  const reader = CellReader.open(Math.max(0, ...snap.columns.map(longestText)))
  try {
    const run = new RuleRun(checks, checked, reader)
    for (const rule of checks.table) {
      results.push(tableResult(rule, await run.table(rule)))
      await run.work.spendAndPause(RULE_UNITS)
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
      await run.work.spendAndPause(RULE_UNITS)
      if (named.has(column)) results.push(...(await run.column(groups[next++])))
      else if (!isOptional)
        results.push(
          ...rules.map((rule) => columnResult(rule, column, cannotRun(`there is no column ${column}`))),
        )
    }
  } finally {
    reader.release()
  }
  const failed = (severity: string): number =>
    results.filter((one) => !one.passed && one.severity === severity).length
  const errors = failed('error')
  return { passed: errors === 0, row_count: snap.rows, errors, warnings: failed('warn'), results }
}

function columnResult(rule: WithSeverity<ColumnRule>, column: string, outcome: Outcome): CheckResult {
  return {
    column,
    rule: nameOf(rule),
    expected: describeColumnRule(rule),
    severity: rule.severity,
    ...outcome,
  }
}

function tableResult(rule: WithSeverity<TableRule>, outcome: Outcome): CheckResult {
  return {
    column: null,
    rule: nameOf(rule),
    expected: describeTableRule(rule),
    severity: rule.severity,
    ...outcome,
  }
}

/** Returns the name of a rule in reports. */
function nameOf(rule: ColumnRule | TableRule): string {
  return rule.rule === 'cannot' ? rule.name : rule.rule
}

/** A value as it is listed: long texts, and what is not a single value, are cut. */
function shortened(value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'object') return value
  if (value === null) return value
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length <= MAX_CHARACTERS ? value : `${text.slice(0, MAX_CHARACTERS)}…`
}

/** The rules of a column, with the tests of those for single values. */
interface ColumnGroup extends ReadColumn {
  rules: readonly WithSeverity<ColumnRule>[]
  tests: Map<ColumnRule, Open>
}

/** One run of checks. */
class RuleRun implements Run {
  readonly names: readonly string[]
  readonly work: Work
  private readonly isMissing: (value: unknown) => boolean
  private readonly from: number
  /** Parts of columns: several groups of rules can be for one column. */
  private readonly parts = new Map<SnapshotColumn, readonly Part[]>()
  /** Outcomes of rules for the same columns. */
  private readonly uniques = new Map<string, Outcome>()
  /** Rows that may still be listed: of many rules that fail, the first ones say enough. */
  private rowsLeft = MAX_LISTED_IN_ALL

  constructor(
    private readonly checks: Checks,
    readonly checked: Checked,
    readonly reader: CellReader,
  ) {
    this.isMissing = missingIn(checks)
    this.names = checked.snap.columns.map(({ name }) => name)
    this.from = checked.from ?? 0
    this.work = checked.work ?? new Work(undefined, 'user')
  }

  valuesOf(column: SnapshotColumn): ColumnValues {
    const parts = this.parts.get(column) ?? partsOf(this.checked.snap, column)
    this.parts.set(column, parts)
    return new ColumnValues(parts, column, this.isMissing, this.work)
  }

  /** The rules of a column, and what has to be read for them: only where values can break one. */
  async group(column: SnapshotColumn, rules: readonly WithSeverity<ColumnRule>[]): Promise<ColumnGroup> {
    const tests: ColumnGroup['tests'] = new Map()
    for (const rule of rules) {
      await this.work.spendAndPause(RULE_UNITS)
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
    for await (const { group, part, open, text } of loadAhead(this.wantedParts(groups), async (one) => ({
      ...one,
      text: await one.part.load(),
    }))) {
      this.work.spend(part.bytes)
      await this.work.pause()
      if (group.unique) {
        const { hashes, ascending } = group.unique
        if (this.reader.ascends(text)) ascending.add(part.from)
        else this.reader.hash(text, hashes, part.from, false)
      }
      await group.values.look(this.reader, part, text, open, this.from)
    }
  }

  private *wantedParts(groups: readonly ColumnGroup[]) {
    for (const group of groups) {
      const { values, tests, unique } = group
      for (const one of values.wanted([...tests.values()], unique !== undefined, this.from))
        yield { ...one, group }
    }
  }

  async column(group: ColumnGroup): Promise<CheckResult[]> {
    const results: CheckResult[] = []
    for (const rule of group.rules) {
      const test = group.tests.get(rule)
      const outcome = test
        ? this.values(rule as ValueRule, test.broken, group.column.type)
        : await this.whole(rule as WholeColumnRule, group)
      results.push(columnResult(rule, group.column.name, outcome))
    }
    return results
  }

  private values(rule: ValueRule, { count, rows }: Broken, type: string): Outcome {
    if (count === 0) return { ...PASSED, count }
    const checked = this.checked.snap.rows - this.from
    const [one, several] = valueRules[rule.rule].failures
    return {
      passed: false,
      count,
      message: `${count} of ${formatCount(checked, 'value')} ${count === 1 ? one : several}${isComparable(rule, type) ? '' : ', or cannot be compared'}`,
      rows: this.limit(rows).map(({ row, value }) => this.failedRow(row, value)),
    }
  }

  failedRow(row: number, value: unknown, first?: number): FailedRow {
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

  /** Returns as many rows as a report may still list. */
  limit<T>(rows: readonly T[]): readonly T[] {
    const some = rows.slice(0, this.rowsLeft)
    this.rowsLeft -= some.length
    return some
  }

  private whole(rule: WholeColumnRule, read: ReadColumn): Outcome | Promise<Outcome> {
    const run = columnRunners[rule.rule] as (
      run: Run,
      rule: WholeColumnRule,
      read: ReadColumn,
    ) => Promise<Outcome>
    return run(this, rule, read)
  }

  table(rule: TableRule): Outcome | Promise<Outcome> {
    const run = tableRunners[rule.rule] as (run: Run, rule: TableRule) => Promise<Outcome>
    return run(this, rule)
  }

  /** Checks that no two rows are the same in some columns. Rules of the same columns share the outcome. */
  async unique(columns: readonly SnapshotColumn[], isKey: boolean, known?: KnownHashes): Promise<Outcome> {
    const same = JSON.stringify([isKey, ...columns.map(({ name }) => name)])
    const outcome = this.uniques.get(same) ?? (await findDuplicates(this, columns, isKey, known))
    this.uniques.set(same, outcome)
    return outcome
  }
}
