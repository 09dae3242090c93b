// Describes rules in words.
import { listed } from '../contract/closest.ts'
import type { ColumnRule, TableRule } from './types.ts'
import { percentText, rangeText } from './values.ts'

/** Describes a rule: `one of open, closed`. */
export function expectedBy(one: ColumnRule | TableRule): string {
  if ('cannot' in one) return one.rule
  switch (one.rule) {
    case 'type':
      return `type ${one.type}`
    case 'required':
      return 'no missing values'
    case 'unique':
      return 'columns' in one ? `unique: ${listed(one.columns)}` : 'unique'
    case 'enum':
      return `one of ${listed(one.values.map(String), 10)}`
    case 'pattern':
      return `matches ${one.pattern}`
    case 'minimum':
      return `${one.isExclusive ? 'more than' : 'at least'} ${one.value}`
    case 'maximum':
      return `${one.isExclusive ? 'less than' : 'at most'} ${one.value}`
    case 'length':
      return `${rangeText(one.range)} characters`
    case 'nulls':
      return `at most ${percentText(one.most)} missing values`
    case 'max_age':
      return `newest value at most ${one.given} old`
    case 'key':
      return `key: ${listed(one.columns)}`
    case 'rows':
      return `${rangeText(one.range)} rows`
    case 'where':
      return one.where
    case 'columns':
      return `column ${one.column}`
    case 'extra_columns':
      return 'no other columns'
    case 'column_order':
      return 'columns in this order'
    case 'plot_columns':
      return 'all columns that plots use'
    case 'change.rows':
      return `rows change by ${rangeText(one.range, '%')}`
    case 'change.removed':
      return `at most ${percentText(one.most)} of the rows removed`
  }
  return (one as { rule: string }).rule
}
