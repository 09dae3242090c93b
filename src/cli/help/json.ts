import * as r from '../../contract/resources.ts'
import type { ObjectSchema, Schema } from '../../contract/schema.ts'
import { type CommandEntry, leavesOf } from '../core/define.ts'

/** Objects that several commands print, as the contract defines them. */
const objects = {
  File: r.FileMeta,
  Grid: r.GridMeta,
  Folder: r.FolderMeta,
  Plot: r.PlotMeta,
  Column: r.ColumnMeta,
  'Column description': r.ColumnDescription,
  'Appended rows': r.RowsAppended,
  Collaborator: r.Collaborator,
  Team: r.Team,
  'API key': r.ApiKey,
  'New API key': r.NewApiKey,
  User: r.UserMeta,
  Sources: r.SourcesGraph,
} as const

type ObjectName = keyof typeof objects

interface Shape {
  /** One object, or an array of them. */
  is: 'object' | 'array' | 'other'
  of: readonly ObjectName[]
  /** Fields of the command line's own. */
  more?: Readonly<Record<string, string>>
}

const array = (of: ObjectName | readonly ObjectName[], more?: Shape['more']): Shape => ({
  is: 'array',
  of: [of].flat() as ObjectName[],
  more,
})
const object = (of: ObjectName | readonly ObjectName[], more?: Shape['more']): Shape => ({
  is: 'object',
  of: [of].flat() as ObjectName[],
  more,
})
const other = (what: string): Shape => ({ is: 'other', of: [], more: { '': what } })

const setting = { setting: 'its name', value: 'its value, or null', source: 'where it comes from' }
const user = {
  username: 'the name',
  email: 'the e-mail address, or null',
  is_admin: 'whether the user is an administrator',
  date_joined: 'a time',
  disabled_at: 'when the user was disabled, or null',
  files: 'the number of files, also in the trash',
  keys: 'the number of keys that can be used',
}
const userKey = {
  username: 'the user',
  id: 'the id of the key',
  name: 'its label',
  scopes: 'an array of scopes',
  created_at: 'a time',
  expires_at: 'a time, or null',
}
const trust = {
  id: 'its id',
  issuer: 'URL of the issuer',
  subject: 'the subjects that are trusted',
  username: 'whom they act as',
  scopes: 'an array of scopes',
  created_at: 'time',
}
const path = { path: 'path of the file', fid: 'its id' }

/** What each command prints with --json. */
export const shapes: Readonly<Record<string, Shape>> = {
  upload: array(['Grid', 'Folder'], {
    file: 'the local file',
    path: 'path of the grid',
    action: 'created, replaced, appended or unchanged',
    warnings: 'an array of texts',
    grid_fid: 'with --plot: the grid of the chart',
    grid_action: 'with --plot: what was done with the grid; action is then that of the chart',
  }),
  ls: array('File', {
    folder: 'with --trashed: the former folder',
    path: 'with --all or a pattern: its path',
  }),
  cat: other('the content of the grid by column: `{"cols": {name: {"uid", "order", "data"}}}`'),
  'plot create': array('Plot', {
    grid_fid: 'the grid of its data, or null',
    action: 'created, replaced or unchanged',
    warnings: 'an array of texts',
  }),
  'plot update': object('Plot', { action: 'replaced' }),
  'plot show': array('Plot'),
  'plot data': other('the figure: `{"data", "layout", "frames"}`'),
  'plot list': array('Plot'),
  'plot feed': array('Plot'),
  'plot pick': array('Plot'),
  'plot unpick': array('Plot'),
  open: other('nothing'),
  show: object(['File', 'Grid', 'Folder', 'Plot']),
  path: array([], path),
  mkdir: object('Folder'),
  mv: array('File'),
  cp: array('File', {
    files: 'all files that were made',
    new_fid: 'the id of the copy',
    warnings: 'an array of texts',
  }),
  rename: object('File'),
  trash: array('File'),
  restore: array('File'),
  delete: array('File'),
  star: array('File'),
  unstar: array('File'),
  sources: object('Sources'),
  'file extras list': array('File'),
  'file extras add': object('File'),
  'file extras cat': other('the content of the extra'),
  'file reference remove': object('File'),
  pull: array([], {
    path: 'the local file',
    fid: 'the id',
    action: 'downloaded, unchanged or would download',
  }),
  push: array([], {
    file: 'the path',
    from: 'the id here',
    fid: 'the id there',
    web_url: 'the link there',
    action: 'created, skipped, or unchanged for folders',
  }),
  append: object('Appended rows', { action: 'appended' }),
  'column list': array('Column'),
  'column get': other('`{"cols": [{"name", "uid", "order", "data"}]}`'),
  'column set': object('Column'),
  'column add': object('Column'),
  'column rename': object('Column'),
  'column remove': array('Column'),
  describe: array('Column description'),
  watch: other('nothing'),
  image: other('nothing; the image goes to a file or to stdout'),
  preview: other('nothing; it prints a picture'),
  share: array('File', { share_link: 'the secret link, or null' }),
  unshare: array('File'),
  collaborators: array('Collaborator', {
    who: 'name of the user or team, or the address',
    folder: 'the folder that is shared, or null if the file itself is',
  }),
  publish: array('File'),
  unpublish: array('File'),
  login: object([], { username: 'your name', server: 'its URL', profile: 'the profile' }),
  logout: other('nothing'),
  whoami: object('User', {
    server: 'its URL, or null on this machine',
    profile: 'the profile, or null',
    credential: 'where the key comes from, or null',
  }),
  'profile list': array([], {
    profile: 'its name',
    url: 'the server',
    user: 'your name',
    current: 'whether it is in use',
  }),
  'profile use': other('nothing'),
  'profile remove': other('nothing'),
  'key create': object('New API key'),
  'key list': array('API key'),
  'key revoke': object('API key'),
  'team create': object('Team'),
  'team add': object('Team'),
  'team remove': object('Team'),
  'team delete': object('Team'),
  'team list': array('Team'),
  serve: other('nothing; its log is JSON'),
  'admin create-user': object('New API key'),
  'admin create-key': object('New API key'),
  'admin user list': array([], user),
  'admin user disable': object([], user),
  'admin user enable': object([], user),
  'admin user rename': object([], user),
  'admin user delete': object([], user),
  'admin key list': array([], userKey),
  'admin key revoke': array([], userKey),
  'admin verify': object([], {
    files: 'their number',
    grids: 'their number',
    slices: 'their number',
    blobs: 'their number',
    bytes: 'their size',
    damage: 'an array of what is damaged',
  }),
  'admin backup': other('nothing'),
  'admin restore': other('nothing'),
  'admin compact': other('nothing'),
  'admin trust add': object([], trust),
  'admin trust list': array([], trust),
  'admin trust remove': object([], trust),
  api: other('the response of the API; with --paginate an array of all results'),
  mcp: other('nothing; it speaks the Model Context Protocol'),
  doctor: array([], {
    check: 'its name',
    status: 'ok, warning or failure',
    detail: 'what was found',
    fix: 'what to do, or null',
  }),
  'config get': object([], setting),
  'config set': object([], setting),
  'config unset': object([], setting),
  'config list': array([], setting),
  completion: other('nothing; it prints a script'),
}

/** docs/json.md: what each command prints with --json. */
export async function jsonReference(commands: readonly CommandEntry[]): Promise<string> {
  const rows = (await leavesOf(commands)).map(({ path }) => `| \`${path}\` | ${shapeText(shapes[path])} |`)
  const sections = (Object.keys(objects) as ObjectName[]).map(
    (name) => `## ${name}\n\n${fieldTable(objects[name])}`,
  )
  return `${[
    '# JSON output',
    'This page is generated by `npm run docs` from the contract of the API.',
    'With `--json`, a command prints one JSON value to stdout; `--json fid,filename` prints only these fields, `--jq EXPRESSION` filters, and `--format ndjson` prints an object per line. Fields are added over time, but they are not renamed or removed. Commands that accept several files print an array, even for one file.',
    'With `--dry-run`, commands that write print objects with `dry_run` (true), `operation`, `would`, `file`, `target` and `change`; `upload` prints `file`, `name`, `would`, `rows`, `columns`, `warnings` and `target`.',
    'An error is one object on stderr: `detail`, and `errors` with `code`, `message` and, where they are known, `field`, `path`, `hint`, `file`, `line`, `column` and `next`. A list that `--limit` has cut prints `{"truncated": true, "limit": N, "detail": …}` to stderr.',
    ['| command | output |', '|---|---|', ...rows].join('\n'),
    ...sections,
  ].join('\n\n')}\n`
}

function shapeText(shape: Shape): string {
  const { is, of, more = {} } = shape
  if (is === 'other') return more['']
  const links = of.map((name) => `[${name}](#${name.toLowerCase().replaceAll(' ', '-')})`)
  const own = Object.entries(more).map(([field, what]) => `\`${field}\` (${what})`)
  const what = [links.join(' or '), own.join(', ')].filter((text) => text !== '').join(', with ')
  return is === 'array' ? `array of ${what}` : what
}

function fieldTable({ properties, required = [] }: ObjectSchema): string {
  const rows = Object.entries(properties).map(([field, schema]) => {
    const { description = '' } = schema as { description?: string }
    const optional = required.includes(field) ? '' : ', optional'
    return `| \`${field}\` | ${typeText(schema)}${optional} | ${description.replaceAll('|', '\\|')} |`
  })
  return ['| field | type | |', '|---|---|---|', ...rows].join('\n')
}

function typeText(schema: Schema<unknown>): string {
  const {
    type,
    items,
    anyOf,
    enum: choices,
  } = schema as {
    type?: string
    items?: Schema<unknown>
    anyOf?: Schema<unknown>[]
    enum?: readonly unknown[]
  }
  if (choices) return choices.map((choice) => `\`${choice}\``).join(', ')
  if (anyOf) return anyOf.map(typeText).join(' or ')
  if (type === 'array') return items ? `array of ${typeText(items)}` : 'array'
  return type ?? 'any'
}
