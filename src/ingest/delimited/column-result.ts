// Describes the columns of a delimited table, and texts among their numbers and dates.
import { excerpt } from '../../json/index.ts'
import { isMissingMarker } from '../detect/value-shape.ts'
import type { ColumnBuilder } from '../values/column.ts'
import { type ColumnType, type Dialect, dateOrderOf, type FirstValue } from '../values/dialect.ts'
import { convertToGiven } from '../values/given-type.ts'
import type { ParsedColumn } from '../values/table.ts'

/** Minimum number of dates or booleans before a contradiction is reported. */
const MIN_TYPED_VALUES = 3

/** Texts with the form of days, such as `32.12.2024`. */
const DAY_SHAPED = /^\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?!\d)/

/**
 * Describes a column of `rows` rows. `isConverted`: the sink has received its texts in their detected type.
 */
export function describeColumn(
  builder: ColumnBuilder,
  name: string,
  rows: number,
  isConverted: boolean,
): ParsedColumn {
  const { firstText, effectiveType, numbers } = builder
  const seen = firstText && firstValuesOf(builder, firstText)
  const isText =
    effectiveType === undefined
      ? builder.isText
      : effectiveType === 'text' || effectiveType.startsWith('date')
  if (!isText)
    return {
      name,
      type: rows === 0 ? 'empty' : effectiveType === 'boolean' ? effectiveType : 'number',
      seen,
    }
  const text =
    numbers > 0 && effectiveType === undefined && firstText
      ? { ...firstText, before: 'number' as const }
      : undefined
  const type = effectiveType === undefined && rows === 0 ? 'empty' : 'text'
  const typed = typeOfTextColumn(builder)
  if (isConverted) delete typed.rewrite
  return { name, type, seen, text, ...typed }
}

/**
 * Returns the first text of a column, and the first that contradicts its type if the column began as dates or
 * booleans.
 */
function firstValuesOf(
  { texts, brokenLine }: ColumnBuilder,
  { line, text }: { line: number; text: string },
): FirstValue[] {
  const broken = brokenLine === undefined ? undefined : texts?.broken
  const first = { type: broken?.before ?? ('text' as const), where: `line ${line}`, text }
  return broken ? [first, { type: 'text', where: `line ${brokenLine}`, text: broken.text }] : [first]
}

/** Returns the detected type of a column's texts; empty for plain text. */
function typeOfTextColumn({ texts, brokenLine, effectiveType }: ColumnBuilder): Partial<ParsedColumn> {
  if (texts === undefined) return {}
  const { type, order, rewrite, isUndecided } = texts.result()
  const { broken, count } = texts
  if (isUndecided) return { dateOrder: 'undecided' }
  if (type !== 'text') return { type, dateOrder: dateOrderOf(effectiveType) ?? order, rewrite }
  if (!broken || brokenLine === undefined) return {}
  if (count < MIN_TYPED_VALUES && (broken.before === 'boolean' || !DAY_SHAPED.test(broken.text))) return {}
  return { text: { line: brokenLine, text: broken.text, before: broken.before } }
}

/** Lists warnings about columns that have both numbers and texts, or a text that contradicts their type. */
export function listMixedColumns(
  columns: readonly ParsedColumn[],
  builders: readonly ColumnBuilder[],
  { names, profile }: Dialect,
  asWritten = false,
): string[] {
  // `NumberWarnings` says how to read columns that look like something.
  const isKnown = (k: number): boolean => !asWritten && (profile.shapes[k]?.types.length ?? 0) > 0
  const mixed = columns.flatMap(({ name, text }, k) =>
    text && (!isKnown(k) || isMissingMarker(text.text))
      ? [
          `column ${name} is text: line ${text.line} holds ${JSON.stringify(text.text)}${describeZone(text) || formatMissingHint(text.text) || formatTypeHint(name, text.text, text.before)}`,
        ]
      : [],
  )
  for (const [k, builder] of builders.entries()) {
    const odd = profile.nonNumbers[k]
    // If a number came first, `mixed` already has a warning.
    if (odd && builder.isText && builder.numbers === 0 && builder.effectiveType === undefined)
      mixed.push(
        `column ${names[k]} holds numbers except in ${formatLines(odd)}; kept as text${formatMissingHint(odd[0].text)}`,
      )
  }
  return mixed
}

/** Says how a time differs from those before it, if one has a zone and the other has none; empty otherwise. */
function describeZone({ text, before }: { text: string; before: ColumnType }): string {
  if (before !== 'datetime' && before !== 'datetime-zone') return ''
  const hasZone = ZONED_TIME.test(text)
  if (!hasZone && !LOCAL_TIME.test(text)) return ''
  if (hasZone === (before === 'datetime-zone')) return ''
  return hasZone ? ' with a time zone, which others lack' : ' without a time zone, which others have'
}

/** Times in ISO 8601, with a zone and without. */
const ZONED_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:?\d\d.*(?:Z|[+-]\d\d:?\d\d)$/
const LOCAL_TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:?\d\d[\d:.,]*)?$/

/** Formats values with their lines: `lines 2 and 3 ("%", "Smp")`. */
function formatLines(values: readonly { line: number; text: string }[]): string {
  const [first, second] = values
  const quoted = (text: string): string => JSON.stringify(excerpt(text))
  if (values.length === 1) return `line ${first.line} (${quoted(first.text)})`
  if (values.length === 2)
    return `lines ${first.line} and ${second.line} (${quoted(first.text)}, ${quoted(second.text)})`
  return `${values.length} lines (first: line ${first.line}: ${quoted(first.text)})`
}

/** Returns a hint on `--null`, if a text among numbers looks like a missing value. */
function formatMissingHint(text: string): string {
  return isMissingMarker(text) ? ` (if that is a missing value: ${formatNullOption(text)})` : ''
}

/** Returns a hint on the type that most values of a column have, if the text can be read as such a value. */
function formatTypeHint(name: string, text: string, type: ColumnType): string {
  const given = type === 'datetime-zone' ? 'datetime' : type
  if (given === 'json') return ''
  const value = convertToGiven(text, given, {})
  if (value === undefined || value === 'ambiguous') return ''
  return ` (to read it as ${type}: --column ${quoteWord(`${name}:${type}`)})`
}

/** Returns the option that reads a text as a missing value. */
export function formatNullOption(text: string): string {
  return `--null ${quoteWord(text)}`
}

function quoteWord(text: string): string {
  return /^[\w/.:-]+$/.test(text) ? text : JSON.stringify(text)
}
