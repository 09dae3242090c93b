// The row that --dry-run prints for a change.
import { type OperationName, operations } from '../../contract/operations/index.ts'
import type { TableView } from '../output/view.ts'

/** The change a command would have made: thrown in place of the request, with --dry-run. */
export class Planned extends Error {
  constructor(
    readonly operation: OperationName,
    /** The file, team, key or user that would have been changed. */
    readonly target: string | undefined,
    /** The fields that would have been sent. */
    readonly change: unknown,
  ) {
    super(operations[operation].summary)
  }

  /** The row that is printed. `file`: the name that was given. */
  row(file?: string): object {
    const { operation, target = null, change = null } = this
    const would = phraseOf(operation, change)
    return { dry_run: true, operation, would, file: file ?? target, target, change }
  }
}

/** Returns the phrase for a change, as "publish". */
function phraseOf(operation: OperationName, change: unknown): string {
  const fields: [string, unknown][] = Object.entries(change ?? {}).filter(([, value]) => value !== undefined)
  const given = new Map(fields)
  if (operation === 'files.update') {
    const phrases = [
      given.has('filename') && 'rename',
      (given.has('parent') || given.has('parent_path')) && 'move',
      given.get('world_readable') === true && 'publish',
      given.get('world_readable') === false && 'make private',
      given.get('share_key_enabled') === true && 'create a secret link',
      given.get('share_key_enabled') === false && 'revoke the secret link',
    ].filter(Boolean)
    if (phrases.length > 0) return phrases.join(', ')
  }
  if (operation === 'versions.keep' && given.get('kept') === false) return 'stop keeping a version'
  return PHRASES[operation] ?? operations[operation].summary
}

/** The fields of a change in words of the command line. What the phrase says already is left out. */
function changeText(operation: OperationName, change: Record<string, unknown>): string {
  const isUpdate = operation === 'files.update'
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
  const wordsOf = (name: string, value: unknown): string | undefined => {
    if (value === undefined || value === null) return undefined
    // The content of a board is longer than a screen.
    if (name === 'content' || (name === 'params' && text(value) === '{}')) return undefined
    if (name === 'filename') return `name=${text(value)}`
    if (name === 'parent')
      return value === -1 && !isUpdate ? undefined : `folder=${value === -1 ? '/' : text(value)}`
    if (name === 'parent_path') return `folder=${text(value)}`
    if (name === 'world_readable') return isUpdate || !value ? undefined : 'public'
    if (name === 'share_key_enabled') return isUpdate || !value ? undefined : 'with a secret link'
    if (Array.isArray(value) && value.every((one) => typeof one === 'string'))
      return value.length === 0 ? undefined : `${name}=${value.join(',')}`
    if (name === 'cols') {
      const cols = typeof value === 'string' ? JSON.parse(value) : value
      return (cols as object[])
        .flatMap((column) => Object.entries(column).map(([key, one]) => wordsOf(key, one)))
        .filter((one) => one !== undefined)
        .join(' ')
    }
    return `${name}=${text(value)}`
  }
  return Object.entries(change)
    .map(([name, value]) => wordsOf(name, value))
    .filter((one) => one !== undefined)
    .join(' ')
}

const PHRASES: Partial<Record<OperationName, string>> = {
  'versions.revert': 'go back to an earlier version',
  'versions.keep': 'keep a version',
  'versions.forget': 'remove a version permanently',
  'checks.set': 'set the rules of a grid',
  'drafts.delete': 'delete drafts',
  'files.trash': 'move to the trash',
  'files.restore': 'restore from the trash',
  'files.permanent_delete': 'delete permanently',
  'files.copy': 'copy',
  'files.update': 'change',
  'folders.create': 'create a folder',
  'plots.create': 'create a plot',
  'plots.update': 'replace the figure',
  'rows.append': 'append rows',
  'dashboards.create': 'create a board',
  'dashboards.update': 'replace the board',
  'alerts.create': 'add an alert',
  'alerts.update': 'change an alert',
  'alerts.delete': 'remove an alert',
  'mailings.create': 'send regularly',
  'mailings.send': 'send now',
  'mailings.delete': 'stop sending',
  'grids.derive': 'derive a grid',
  'refreshes.set': 'refresh a grid from a URL',
  'refreshes.run': 'refresh a grid',
  'refreshes.delete': 'stop refreshing a grid',
  'derivations.delete': 'end the derivation',
  'columns.create': 'add a column',
  'columns.update': 'change a column',
  'columns.delete': 'remove a column',
  'collaborators.add': 'share',
  'collaborators.remove': 'stop sharing',
  'stars.add': 'star',
  'stars.remove': 'remove the star',
  'keys.create': 'create an API key',
  'keys.revoke': 'revoke the API key',
  'teams.create': 'create a team',
  'teams.delete': 'delete the team',
}

export const plannedView: TableView = {
  id: 'target',
  columns: [
    { field: 'would', title: 'WOULD' },
    { field: 'file', title: 'WHAT', format: (file: string | null) => file ?? '' },
    { field: 'target', title: 'ID', format: (target: string | null) => target ?? '' },
    {
      field: 'change',
      title: 'CHANGE',
      format: (change: Record<string, unknown> | null, { operation }: { operation: OperationName }) =>
        changeText(operation, change ?? {}),
    },
  ],
}
