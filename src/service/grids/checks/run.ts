// Runs checks on a table (docs/checks.md).
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
import { loadAhead, WorkBudget } from '../../../json/index.ts'
import { comparisonOf } from '../../store/schema/column-types.ts'
import { batchChunks, type ColumnChunk, columnChunksOf } from '../column/chunks.ts'
import { CellReader, RowHashes } from '../column/kernel/cells.ts'
import { largestChunkBytes, type SnapshotColumn } from '../column/snapshot.ts'
import { MAX_DIFF_ROWS } from '../diff/diff-inputs.ts'
import { COLUMN_RULE_RUNNERS, type ReadColumn } from './column-rules.ts'
import { type ColumnHashes, ColumnValues, type Failures, type OpenTest } from './column-values.ts'
import { type CheckedTable, type CheckRun, cannotRunOutcome, type Outcome, PASSED } from './outcome.ts'
import { TABLE_RULE_RUNNERS } from './table-rules.ts'
import { findDuplicates } from './unique.ts'
import { compileRule, createMissingTest, isLimitComparable, isValueRule, VALUE_RULES } from './value-rules.ts'

/** Maximum number of rows in a report. */
const MAX_REPORTED_ROWS = 2000
/** Maximum length of a value in a report, in characters. */
const MAX_VALUE_CHARACTERS = 200
/** Work units of preparing a rule. */
const UNITS_PER_RULE = 10_000

/** Runs all rules on a table. Throws `bad_checks` if a rule is invalid, such as a pattern. */
export async function runChecks(checks: Checks, checked: CheckedTable): Promise<CheckReport> {
  const { snap } = checked
  const results: CheckResult[] = []
  const reader = CellReader.open(Math.max(0, ...snap.columns.map(largestChunkBytes)))
  try {
    const run = new RuleRun(checks, checked, reader)
    for (const rule of checks.table) {
      results.push(toTableResult(rule, await run.runTableRule(rule)))
      await run.work.spendAndPause(UNITS_PER_RULE)
    }
    const groups: ColumnGroup[] = []
    const columnByName = new Map(snap.columns.map((column) => [column.name, column]))
    for (const { column, rules } of checks.columns) {
      const snapshotColumn = columnByName.get(column)
      if (snapshotColumn) groups.push(await run.prepareGroup(snapshotColumn, rules))
    }
    await run.readGroups(groups)
    let next = 0
    for (const { column, isOptional, rules } of checks.columns) {
      await run.work.spendAndPause(UNITS_PER_RULE)
      if (columnByName.has(column)) results.push(...(await run.runColumn(groups[next++])))
      else if (!isOptional)
        results.push(
          ...rules.map((rule) =>
            toColumnResult(rule, column, cannotRunOutcome(`there is no column ${column}`)),
          ),
        )
    }
  } finally {
    reader.release()
  }
  const countFailed = (severity: string): number =>
    results.filter((result) => !result.passed && result.severity === severity).length
  const errors = countFailed('error')
  return { passed: errors === 0, row_count: snap.rows, errors, warnings: countFailed('warn'), results }
}

function toColumnResult(rule: WithSeverity<ColumnRule>, column: string, outcome: Outcome): CheckResult {
  return {
    column,
    rule: ruleNameOf(rule),
    expected: describeColumnRule(rule),
    severity: rule.severity,
    ...outcome,
  }
}

function toTableResult(rule: WithSeverity<TableRule>, outcome: Outcome): CheckResult {
  return {
    column: null,
    rule: ruleNameOf(rule),
    expected: describeTableRule(rule),
    severity: rule.severity,
    ...outcome,
  }
}

/** Returns the name of a rule, as in reports. */
function ruleNameOf(rule: ColumnRule | TableRule): string {
  return rule.rule === 'cannot' ? rule.name : rule.rule
}

/** Shortens a long text, list or object for the report. */
function shortenValue(value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'object') return value
  if (value === null) return value
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length <= MAX_VALUE_CHARACTERS ? value : `${text.slice(0, MAX_VALUE_CHARACTERS)}…`
}

/** The rules of a column, with the tests of rules for single values. */
interface ColumnGroup extends ReadColumn {
  rules: readonly WithSeverity<ColumnRule>[]
  tests: Map<ColumnRule, OpenTest>
}

/** One execution of checks. */
class RuleRun implements CheckRun {
  readonly names: readonly string[]
  readonly work: WorkBudget
  private readonly isMissing: (value: unknown) => boolean
  private readonly from: number
  /** Chunks by column: several groups of rules can be for one column. */
  private readonly chunksByColumn = new Map<SnapshotColumn, readonly ColumnChunk[]>()
  /** Outcomes of `unique` and `key` rules, by columns. */
  private readonly uniques = new Map<string, Outcome>()
  /** Rows that the report can still list. The first failed rules use them up. */
  private rowsLeft = MAX_REPORTED_ROWS

  constructor(
    private readonly checks: Checks,
    readonly checked: CheckedTable,
    readonly reader: CellReader,
  ) {
    this.isMissing = createMissingTest(checks)
    this.names = checked.snap.columns.map(({ name }) => name)
    this.from = checked.from ?? 0
    this.work = checked.work ?? new WorkBudget(undefined, 'user')
  }

  valuesOf(column: SnapshotColumn): ColumnValues {
    const parts = this.chunksByColumn.get(column) ?? columnChunksOf(this.checked.snap, column)
    this.chunksByColumn.set(column, parts)
    return new ColumnValues(parts, column, this.isMissing, this.work)
  }

  /** Prepares the rules of a column: compiles their tests. */
  async prepareGroup(
    column: SnapshotColumn,
    rules: readonly WithSeverity<ColumnRule>[],
  ): Promise<ColumnGroup> {
    const tests: ColumnGroup['tests'] = new Map()
    for (const rule of rules) {
      await this.work.spendAndPause(UNITS_PER_RULE)
      if (isValueRule(rule))
        tests.set(rule, {
          test: await compileRule(rule, this.checks, column.type),
          failures: { count: 0, rows: [] },
        })
    }
    const isUnique = rules.some(({ rule }) => rule === 'unique') && this.checked.snap.rows <= MAX_DIFF_ROWS
    const unique = isUnique
      ? {
          hashes: new RowHashes(this.checked.snap.rows),
          comparison: comparisonOf(column.type, column.type),
          ascending: new Set<number>(),
        }
      : undefined
    return {
      column,
      rules,
      tests,
      unique,
      values: this.valuesOf(column),
    }
  }

  /** Reads the values of columns once, for all of their rules, and records failures. */
  async readGroups(groups: readonly ColumnGroup[]): Promise<void> {
    const entries = [...this.listChunks(groups)]
    const blobs = batchChunks(
      this.checked.snap.blobs,
      entries.map(({ part }) => part),
    )
    for await (const { group, part, open, text } of loadAhead(entries, async (entry) => ({
      ...entry,
      text: await entry.part.load(blobs),
    }))) {
      this.work.spend(part.bytes)
      await this.work.pause()
      if (group.unique) {
        const { hashes, comparison, ascending } = group.unique
        if (this.reader.isAscending(text)) ascending.add(part.from)
        else this.reader.addHashes(text, hashes, part.from, comparison)
      }
      await group.values.testChunk(this.reader, part, text, open, this.from)
    }
  }

  private *listChunks(groups: readonly ColumnGroup[]) {
    for (const group of groups) {
      const { values, tests, unique } = group
      for (const entry of values.selectChunks([...tests.values()], unique !== undefined, this.from))
        yield { ...entry, group }
    }
  }

  async runColumn(group: ColumnGroup): Promise<CheckResult[]> {
    const results: CheckResult[] = []
    for (const rule of group.rules) {
      const outcome = isValueRule(rule)
        ? /**
           * Returns the outcome of a value rule. The rows that it lists count toward the limit of the report;
           * the number of failures is exact.
           */
          this.valueOutcome(
            rule,
            group.tests.get(rule)?.failures ?? { count: 0, rows: [] },
            group.column.type,
          )
        : await this.runColumnRule(rule, group)
      results.push(toColumnResult(rule, group.column.name, outcome))
    }
    return results
  }

  private valueOutcome(rule: ValueRule, { count, rows }: Failures, type: string): Outcome {
    if (count === 0) return { ...PASSED, count }
    const checked = this.checked.snap.rows - this.from
    const [one, several] = VALUE_RULES[rule.rule].failures
    return {
      passed: false,
      count,
      message: `${count} of ${formatCount(checked, 'value')} ${count === 1 ? one : several}${isLimitComparable(rule, type) ? '' : ', or cannot be compared'}`,
      rows: this.takeListed(rows).map(({ row, value }) => this.toFailedRow(row, value)),
    }
  }

  toFailedRow(row: number, value: unknown, first?: number): FailedRow {
    const locate = (one: number): { row: number; line: number | null } => ({
      row: one + 1,
      line: this.checked.lineOf?.(one) ?? null,
    })
    return {
      ...locate(row),
      value: shortenValue(value) as FailedRow['value'],
      ...(first !== undefined && { same_as: locate(first) }),
    }
  }

  takeListed<T>(rows: readonly T[]): readonly T[] {
    const listed = rows.slice(0, this.rowsLeft)
    this.rowsLeft -= listed.length
    return listed
  }

  private runColumnRule(rule: WholeColumnRule, read: ReadColumn): Outcome | Promise<Outcome> {
    const run = COLUMN_RULE_RUNNERS[rule.rule] as (
      run: CheckRun,
      rule: WholeColumnRule,
      read: ReadColumn,
    ) => Promise<Outcome>
    return run(this, rule, read)
  }

  runTableRule(rule: TableRule): Outcome | Promise<Outcome> {
    const run = TABLE_RULE_RUNNERS[rule.rule] as (run: CheckRun, rule: TableRule) => Promise<Outcome>
    return run(this, rule)
  }

  /** Finds duplicate rows. Rules of the same columns share the outcome. */
  async unique(columns: readonly SnapshotColumn[], isKey: boolean, known?: ColumnHashes): Promise<Outcome> {
    const cacheKey = JSON.stringify([isKey, ...columns.map(({ name }) => name)])
    const outcome = this.uniques.get(cacheKey) ?? (await findDuplicates(this, columns, isKey, known))
    this.uniques.set(cacheKey, outcome)
    return outcome
  }
}
