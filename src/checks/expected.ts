// Describes rules in words.
import { listed } from '../contract/closest.ts'
import type { ColumnRule, TableRule } from './types.ts'
import { percentText, rangeText } from './values.ts'

/** Describes a rule: `one of open, closed`. */
export function expectedBy(rule: ColumnRule | TableRule): string {
  if ('cannot' in rule) return rule.rule
  switch (rule.rule) {
    case 'type':
      return `type ${rule.type}`
    case 'required':
      return 'no missing values'
    case 'unique':
      return 'columns' in rule ? `unique: ${listed(rule.columns)}` : 'unique'
    case 'enum':
      return `one of ${listed(rule.values.map(String), 10)}`
    case 'pattern':
      return `matches ${rule.pattern}`
    case 'minimum':
      return `${rule.isExclusive ? 'more than' : 'at least'} ${rule.value}`
    case 'maximum':
      return `${rule.isExclusive ? 'less than' : 'at most'} ${rule.value}`
    case 'length':
      return `${rangeText(rule.range)} characters`
    case 'nulls':
      return `at most ${percentText(rule.most)} missing values`
    case 'max_age':
      return `newest value at most ${rule.given} old`
    case 'key':
      return `key: ${listed(rule.columns)}`
    case 'rows':
      return `${rangeText(rule.range)} rows`
    case 'where':
      return rule.where
    case 'columns':
      return `column ${rule.column}`
    case 'extra_columns':
      return 'no other columns'
    case 'column_order':
      return 'columns in this order'
    case 'plot_columns':
      return 'all columns that plots use'
    case 'change.rows':
      return `rows change by ${rangeText(rule.range, '%')}`
    case 'change.removed':
      return `at most ${percentText(rule.most)} of the rows removed`
  }
  return (rule as { rule: string }).rule
}
