// Warns about columns that look like numbers or dates of another form, and about ambiguous ones.
import { formatList } from '../../contract/message-texts.ts'
import { excerpt } from '../../json/index.ts'
import type { ColumnBuilder } from '../values/column.ts'
import { parseDate } from '../values/date.ts'
import type { DelimitedOptions, Dialect, FoundStyle, NumberStyle } from '../values/dialect.ts'
import { parseStyledNumber, styleOptionsOf } from '../values/number.ts'
import { formatNullOption } from './column-result.ts'

/** Numbers whose commas can separate thousands: 1,234 and 12,345,678. */
const WITH_THOUSANDS = /^-?\d{1,3}(,\d{3})+$/
/** Numbers with a decimal comma: 1,5 and 1.234,50. */
const DECIMAL_COMMA = /^-?\d+(\.\d{3})*,\d+$/

/**
 * Returns whether values are ambiguous: with --decimal , a point may separate thousands or be another decimal
 * point.
 */
export function isAmbiguous(
  { profile }: Pick<Dialect, 'profile'>,
  { numbers }: DelimitedOptions,
  k: number,
): boolean {
  return numbers?.decimal === ',' && numbers.thousands !== '.' && profile.grouped[k] !== undefined
}

/**
 * Lists the warnings of a table. Suggests an option only if it reads the whole sample of the column, and
 * misreads no other column.
 */
export class NumberWarnings {
  /** Columns that share a warning. */
  private readonly alike = new Map<string, { names: string[]; place: string; looks: string; how: string }>()

  constructor(
    private readonly builders: readonly ColumnBuilder[],
    private readonly dialect: Dialect,
    private readonly options: DelimitedOptions,
  ) {}

  list(): string[] {
    const { names } = this.dialect
    const lines = this.builders.flatMap((builder, k) => {
      if (this.isGiven(k)) return []
      return (
        this.formatAmbiguous(k) ??
        formatDateWarning(builder, names[k], this.options.targetName?.(k)) ??
        this.formatLook(k) ??
        []
      )
    })
    for (const { names: columns, place, looks, how } of this.alike.values()) {
      const which =
        columns.length === 1 ? `column ${columns[0]} looks` : `columns ${formatList(columns, 5)} look`
      lines.push(`${which} like numbers ${looks} ${place}; kept as text${how}`)
    }
    return [...lines, ...this.listDecimalPoints()]
  }

  private isGiven(k: number): boolean {
    return this.options.types?.has(this.dialect.names[k]) === true
  }

  /** Returns whether a style would misread another column. */
  private isMisreading(style: NumberStyle, column: number): boolean {
    return this.dialect.profile.styles.some(
      (columnStyle, k) =>
        k !== column &&
        columnStyle !== undefined &&
        columnStyle.decimal !== style.decimal &&
        this.builders[k].isText &&
        !this.isGiven(k),
    )
  }

  /** Formats the effect of a style on another column, whose points it removes. */
  private formatEffect(style: NumberStyle): string {
    const { names, profile } = this.dialect
    const k = profile.grouped.findIndex((text, at) => text !== undefined && !this.builders[at].isText)
    if (style.decimal !== ',' || style.thousands !== '.' || k < 0) return ''
    return ` (this also reads ${names[k]} ${profile.grouped[k]} as ${profile.grouped[k]!.replaceAll('.', '')})`
  }

  /** Formats the locale with this style, unless it misreads another column. */
  private formatLocale(style: NumberStyle): string {
    return style.decimal === ',' &&
      style.thousands !== ' ' &&
      this.formatEffect({ decimal: ',', thousands: '.' }) === ''
      ? ' (or --locale de)'
      : ''
  }

  /** Returns the warning about a column of ambiguous numbers; undefined for others. */
  private formatAmbiguous(k: number): string | undefined {
    const { names, profile } = this.dialect
    if (!isAmbiguous(this.dialect, this.options, k)) return undefined
    const plain = profile.grouped[k]!.replaceAll('.', '')
    return `column ${names[k]}: ${profile.grouped[k]} is ${plain} if its point separates thousands; kept as text; to read it as ${plain}: --thousands .; as a decimal number: --column ${JSON.stringify(`${names[k]}:number`)}`
  }

  /** Returns the warning about a column of text; undefined if there is none, or it is shared (`alike`). */
  private formatLook(k: number): string | undefined {
    const { names, profile } = this.dialect
    const { firstText, texts, isText, effectiveType } = this.builders[k]
    if (!firstText || (texts !== undefined && texts.result().type !== 'text')) return undefined
    const { line, text } = firstText
    // No hint on formatted values if the user wants them unchanged.
    const look = this.options.asWritten ? undefined : profile.shapes[k]
    if (look && isText && effectiveType === undefined) {
      const nulls = (look.missing ?? []).map((marker) => ` ${formatNullOption(marker)}`).join('')
      const types = look.types.map((type) => `--column ${JSON.stringify(`${names[k]}:${type}`)}${nulls}`)
      // Numbers of another style also need its options, unless they are given or misread another column.
      const style = this.options.numbers?.decimal === ',' ? undefined : look.numbers
      const how = style ? ` ${styleOptionsOf(style)}${this.formatEffect(style)}` : ''
      const isRead = types.length > 0 && !(style && this.isMisreading(style, k))
      return `column ${names[k]} looks like ${look.what} (line ${line}: ${text}); kept as text${isRead ? `; to read them: ${types.join(' or ')}${how}${profile.endsInTotal ? ' --skip-last 1' : ''}` : ''}`
    }
    const style = profile.styles[k]
    if (!WITH_THOUSANDS.test(text) && !DECIMAL_COMMA.test(text) && !style) return undefined
    // `listMixedColumns` names the other values.
    if (profile.nonNumbers[k]) return undefined
    if (this.options.numbers !== undefined && parseStyledNumber(text, this.options.numbers) !== undefined)
      return `column ${names[k]} has values that are not numbers in the given style; kept as text (line ${line}: ${text}, and others)`
    const isGroups = WITH_THOUSANDS.test(text) || (style !== undefined && style.decimal === '.')
    const looks = isGroups ? 'with groups of digits' : 'with a decimal comma'
    const how = style && !this.isMisreading(style, k) ? this.formatStyleHint(style, text) : ''
    const group = this.alike.get(looks + how)
    if (group) group.names.push(names[k])
    else this.alike.set(looks + how, { names: [names[k]], place: `(line ${line}: ${text})`, looks, how })
    return undefined
  }

  private formatStyleHint(style: FoundStyle, text: string): string {
    const nulls = style.missing.map((marker) => ` ${formatNullOption(marker)}`).join('')
    // Each value is a number in both styles.
    if (WITH_THOUSANDS.test(text) && style.decimal === ',' && style.thousands === '')
      return `; to read them: --thousands ,${nulls} (or, if the comma is decimal: --decimal ,${nulls})`
    return `; to read them: ${styleOptionsOf(style)}${nulls}${this.formatEffect(style)}${this.formatLocale(style)}`
  }

  /** Lists columns whose decimal points can separate thousands, since other columns have decimal commas. */
  private listDecimalPoints(): string[] {
    const { names, profile, delimiter } = this.dialect
    const comma = profile.styles.findIndex(
      (style, k) => style?.decimal === ',' && this.builders[k].isText && !this.isGiven(k),
    )
    // A semicolon as delimiter also suggests decimal commas.
    if (this.options.numbers !== undefined || (comma < 0 && delimiter !== ';')) return []
    const why =
      comma >= 0
        ? `, but column ${names[comma]} has decimal commas; if the point separates thousands`
        : '; if its point separates thousands'
    const texts = profile.grouped.map((text, k) => text ?? profile.groupedAmounts[k])
    return texts.flatMap((text, k) =>
      text === undefined || this.builders[k].isText || this.isGiven(k)
        ? []
        : [`column ${names[k]}: ${text} was read as a decimal number${why}: --decimal , --thousands .`],
    )
  }
}

/**
 * Returns the warning about dates that are ambiguous or stored in another form; undefined if there is none. `target`: name
 * of the column in the grid to which rows without a header are added, whose type stays.
 */
function formatDateWarning({ texts }: ColumnBuilder, name: string, target?: string): string | undefined {
  const { type, order, isUndecided, written } = texts?.result() ?? {}
  if (written === undefined) return undefined
  const columns = ['dmy', 'mdy'].map((suffix) => `--column ${JSON.stringify(`${name}:date-${suffix}`)}`)
  if (isUndecided)
    return `column ${name}: dates such as ${excerpt(written)} can have the day or the month first; kept as text; to read them: ${columns.join(' or ')}`
  if (type === 'text' || type === 'boolean') return undefined
  // No warning if the order is given, or known from the target column.
  if (texts?.knownOrder !== undefined && (order ?? texts.knownOrder) === texts.knownOrder) return undefined
  const first = order === undefined ? '' : ` (the ${order === 'dmy' ? 'day' : 'month'} is first)`
  const how =
    target === undefined ? `; to keep them as written: --column ${JSON.stringify(`${name}:text`)}` : ''
  return `column ${target ?? name}: dates such as ${excerpt(written)} are stored as ${parseDate(written, order ?? 'dmy')}${first}${how}`
}
