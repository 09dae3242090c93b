// Options of upload.
import { CHART_OPTIONS, EXPLAIN_OPTION } from '../../charts/spec/options.ts'
import { CHART_TYPE_CHOICES } from '../../charts/spec/types.ts'
import { conflictRules } from '../../contract/headers.ts'
import type { Option, OptionValues, ShortHelp } from '../core/define.ts'
import {
  allowTypeChangeOption,
  checksOption,
  keyOptions,
  type ReadingOptions,
  readingOptions,
  strictOption,
} from '../files/parse-options.ts'
import { destinationOptions } from './destination.ts'

/** Option that skips files of directories and patterns. */
export const excludeOption = {
  flags: '--exclude <pattern>',
  description: 'with directories or patterns: skip matching files (repeatable)',
  repeatable: true,
} as const satisfies Option

export const uploadOptions = [
  ...destinationOptions,
  {
    flags: '--on-conflict <rule>',
    description: 'if the name is taken: fail (default), rename, replace (keeps the id and link) or append',
    choices: conflictRules,
  },
  ...keyOptions,
  ...readingOptions,
  {
    flags: '--unpivot <columns>',
    description: 'columns that become rows, as a range or pattern: 2019-2023, temp_*; with --into',
  },
  {
    flags: '--into <name,value>',
    description:
      'with --unpivot: the column for their names and the one for their values, such as year,value',
  },
  allowTypeChangeOption,
  {
    flags: '--plot <type>',
    description: 'also make a chart of the grid, and print its link; auto chooses the type from the columns',
    choices: CHART_TYPE_CHOICES,
  },
  ...CHART_OPTIONS.filter(({ flags }) => flags !== '--locale <tag>'),
  EXPLAIN_OPTION,
  {
    flags: '-y, --yes',
    description: 'replace a grid without confirmation, even if columns or most rows are lost',
  },
  {
    flags: '--max-shrink <percent>',
    description:
      'refuse to replace a grid that would lose more of its rows, such as 10% (default: ask beyond 50%)',
  },
  strictOption,
  checksOption,
  {
    flags: '--include <pattern>',
    description: 'with directories or patterns: upload only matching files (repeatable)',
    repeatable: true,
  },
  excludeOption,
  {
    flags: '--draft <name>',
    description:
      'leave the grid as it is, and store the file as a draft that only those who may change it see, for 14 days',
    completion: undefined,
  },
  {
    flags: '--delete',
    description:
      'with directories: move grids that no file makes to the trash, and replace the others (--on-conflict replace)',
  },
  {
    flags: '--max-delete <limit>',
    description:
      'with --delete: refuse to move more grids to the trash, such as 10% or 5 (default: ask beyond 50%)',
  },
  {
    flags: '--plan <file>',
    description: 'change nothing, and write what would be done to a file; then: gridline apply FILE',
    completion: 'local',
  },
  { flags: '--jobs <n>', integer: { max: 64 }, description: 'number of parallel uploads (default: 4)' },
  {
    flags: '--provenance',
    description: 'record commit, branch and run of the CI job in the metadata of the grids',
  },
  {
    flags: '--dry-run',
    description: 'show names, types, row counts and assumptions without changing anything',
  },
] as const satisfies readonly Option[]

export type UploadOptions = OptionValues<typeof uploadOptions, true> &
  Pick<ReadingOptions, 'areTypesOptional'>

/** The options that most uploads need. */
export const usualOptions: ShortHelp = {
  options: {
    '--name': 'name of the grid (default: that of the file)',
    '--folder': 'destination folder; missing folders are created',
    '--public': 'make the grid public (readable by anyone)',
    '--on-conflict': 'if the name is taken: fail, rename, replace or append',
    '--key': 'update rows with equal values in these columns',
    '--delimiter': 'delimiter between cells (default: detected)',
    '--decimal': 'decimal separator of numbers: . or ,',
    '--null': 'text that marks a missing value, such as NA',
    '--column': 'type of a column: zip:text, day:date',
    '--sheet': 'sheet of a workbook (default: all)',
    '--plot': 'also make a chart, and print its link: auto, line, bar …',
    '--x': 'column of the x axis; labels of a pie',
    '--y': 'columns of the y axis: a,b or 2019-2023 or temp_*',
    '--by': 'draw one series per value of this column',
    '--title': 'title of the chart (default: from its columns)',
    '--checks': 'refuse data that fails these rules',
    '--draft': 'store a draft that readers do not see',
    '--delete': 'with directories: trash grids without a file',
    '--yes': 'do not ask before columns or most rows are lost',
    '--dry-run': 'show what would be stored, and change nothing',
  },
  topics: ['formats', 'charts'],
  examples: 4,
}
