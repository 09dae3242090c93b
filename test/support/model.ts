/**
 * A minimal independent model of the service: files in memory, with the permissions, states and copies that
 * docs/api.md describes. It has no stores, transactions or requests. It predicts the status of a response and
 * the fields in `shown`.
 */

export const PEOPLE = ['ann', 'ben', 'cal', undefined] as const
/** Names whose byte order differs from their alphabetical order. */
export const NAMES = ['a', 'B', 'Z', 'b', 'ä', 'b (1)', 'x_y'] as const

type Kind = 'grid' | 'plot' | 'fold' | 'extra'
type Value = number | string | null | boolean

interface Column {
  /** Its uid in each of the tested services. */
  uids: string[]
  name: string
  data: Value[]
}

interface File {
  fid: string
  owner: string
  kind: Kind
  name: string
  folder: File | undefined
  isPublic: boolean
  /** Whether it was trashed itself, not through an ancestor. */
  isTrashed: boolean
  isGone: boolean
  /** Collaborators, and whether they have write access. */
  shared: Map<string, boolean>
  stars: Set<string>
  copiedFrom?: File
  columns: Column[]
  rows: number
  /** For plots: references of its traces. */
  sources: { grid: File; column: Column }[]
  /** Attachments it refers to. */
  extras: Set<File>
  /** Its share key in each of the services; empty if it has none. */
  keys: string[]
}

/** A step of a sequence: action, user, and random numbers that select files. */
export interface Step {
  does: keyof typeof steps
  who: number
  what: number
  other: number
  name: number
  flag: boolean
}

/** A request and its expected result. */
export interface Plan {
  user: string | undefined
  method: string
  /** Returns the request for a service by number, since uids differ. */
  request(service: number): { path: string; json?: unknown }
  status: number
  /** Expected part of the response, or all of it. */
  shown?: unknown
  /** Selects the same part of the actual response. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of any operation
  show?(answer: any): unknown
  /** Reads ids from the responses, after they are checked. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of any operation
  learn?(answers: any[]): void
}

export class Model {
  readonly files: File[] = []
  readonly #suffix: string

  constructor(run: number) {
    this.#suffix = String(run)
  }

  person(who: number): string | undefined {
    const name = PEOPLE[who % PEOPLE.length]
    return name && name + this.#suffix
  }

  someone(who: number): string {
    return this.person(who % 3)!
  }

  file(what: number): File | undefined {
    return this.files.length === 0 ? undefined : this.files[what % this.files.length]
  }

  ofKind(kind: Kind, what: number): File | undefined {
    const found = this.files.filter((file) => file.kind === kind)
    return found.length === 0 ? undefined : found[what % found.length]
  }

  add(file: Partial<File> & Pick<File, 'owner' | 'kind' | 'name' | 'folder'>): File {
    const added: File = {
      fid: '',
      isPublic: false,
      isTrashed: false,
      isGone: false,
      shared: new Map(),
      stars: new Set(),
      columns: [],
      rows: 0,
      sources: [],
      extras: new Set(),
      keys: [],
      ...file,
    }
    this.files.push(added)
    return added
  }

  named(owner: string, folder: File | undefined, name: string): File | undefined {
    return this.files.find(
      (file) =>
        file.owner === owner &&
        file.folder === folder &&
        file.name === name &&
        !file.isTrashed &&
        !file.isGone &&
        file.kind !== 'extra',
    )
  }

  freeName(owner: string, folder: File | undefined, name: string): string {
    let free = name
    for (let n = 1; this.named(owner, folder, free); n++) free = `${name} (${n})`
    return free
  }

  below(folder: File): File[] {
    return this.files.filter((file) => {
      for (let above = file.folder; above; above = above.folder) if (above === folder) return true
      return false
    })
  }
}

/** A file in a trashed folder is trashed. */
function stateOf(file: File): 'active' | 'trashed' | 'gone' {
  if (file.isGone) return 'gone'
  for (let one: File | undefined = file; one; one = one.kind === 'extra' ? undefined : one.folder)
    if (one.isTrashed) return 'trashed'
  return 'active'
}

// Permissions. See docs/api.md#conventions.

/** Returns whether a collaborator may write; undefined if the user is not a collaborator. */
function shareOf(file: File, user: string | undefined, above: boolean): boolean | undefined {
  if (!user) return undefined
  let best = above ? undefined : file.shared.get(user)
  for (let folder = file.folder; folder && file.kind !== 'extra'; folder = folder.folder) {
    const share = folder.shared.get(user)
    if (share !== undefined) best = best || share
  }
  return best
}

type Access = 'read' | 'write' | 'trash' | 'own'

function may(file: File, user: string | undefined, access: Access): boolean {
  if (stateOf(file) === 'gone') return false
  if (user === file.owner) return true
  const share = shareOf(file, user, false)
  switch (access) {
    case 'read':
      return share !== undefined || (stateOf(file) === 'active' && file.isPublic)
    case 'write':
      return share === true && stateOf(file) === 'active'
    case 'trash':
      return shareOf(file, user, true) === true
    case 'own':
      return false
  }
}

/** Returns the expected error: 404 without read access, 401 or 403 without the required access; or undefined. */
function refusal(
  file: File,
  user: string | undefined,
  access: Access,
  kinds?: readonly Kind[],
): number | undefined {
  if (!may(file, user, 'read') || (kinds && !kinds.includes(file.kind))) return 404
  if (may(file, user, access)) return undefined
  return user === undefined ? 401 : 403
}

/** Returns the modelled metadata of a file. */
function meta(file: File, user: string | undefined): object {
  const own = user === file.owner
  const folderShown = own || !file.folder || may(file.folder, user, 'read')
  const collaborates = own || shareOf(file, user, false) !== undefined
  const shared = [...file.shared].map(([username, writes]) => `${username} ${writes ? 'writes' : 'reads'}`)
  return {
    fid: file.fid,
    filename: file.name,
    filetype: file.kind,
    owner: file.owner,
    parent: folderShown && file.folder ? Number(file.folder.fid.split(':')[1]) : -1,
    world_readable: file.isPublic,
    permission: own ? 'admin' : may(file, user, 'write') ? 'write' : 'read',
    deleted: own ? stateOf(file) === 'trashed' : undefined,
    stars: [...file.stars].sort(),
    collaborators: collaborates ? shared.sort() : [],
  }
}

/** Selects the same fields from a response. */
// biome-ignore lint/suspicious/noExplicitAny: answers of any operation
function metaIn(answer: any): object {
  return {
    fid: answer.fid,
    filename: answer.filename,
    filetype: answer.filetype,
    owner: answer.owner,
    parent: answer.parent,
    world_readable: answer.world_readable,
    permission: answer.current_user_permission,
    deleted: answer.deleted,
    stars: answer.stars.results.map((star: { username: string }) => star.username).sort(),
    collaborators: answer.collaborators.results
      .map((one: { username: string; readonly: boolean }) =>
        [one.username, one.readonly ? 'reads' : 'writes'].join(' '),
      )
      .sort(),
  }
}

function columnsOf(file: File): object[] {
  return file.columns.map(({ name }, order) => ({ name, order }))
}

/** Returns all modelled fields of one file, including those omitted in lists. */
function detail(file: File, user: string | undefined): object {
  const referred = file.kind === 'plot' ? new Set(file.sources.map(({ grid }) => grid)) : new Set<File>()
  const references = [...referred, ...file.extras].filter((one) => may(one, user, 'read'))
  return {
    ...meta(file, user),
    references: references.map(({ fid }) => fid).sort(),
    ...(file.kind === 'grid'
      ? {
          columns: columnsOf(file),
          rows: file.rows,
          copiedFrom: file.copiedFrom && may(file.copiedFrom, user, 'read') ? file.copiedFrom.fid : null,
        }
      : {}),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers of any operation
function detailIn(answer: any): object {
  return {
    ...metaIn(answer),
    references: [...answer.references].sort(),
    ...(answer.filetype === 'grid'
      ? {
          columns: answer.cols.map(({ name, order }: { name: string; order: number }) => ({ name, order })),
          rows: answer.row_count,
          copiedFrom: answer.source_fid,
        }
      : {}),
  }
}

const idOf = (file: File | undefined): number => (file ? Number(file.fid.split(':')[1]) : -1)
const byBytes = (a: { name: string }, b: { name: string }): number =>
  Buffer.compare(Buffer.from(a.name), Buffer.from(b.name))
const plural: Record<Kind, string> = { grid: 'grids', plot: 'plots', fold: 'folders', extra: 'extras' }

type Steps = Record<string, (model: Model, step: Step) => Plan | undefined>

/** Changes one file. The response is an error or the file. */
function change(
  model: Model,
  { who, what }: Step,
  access: Access,
  request: { method: string; path: string; json?: unknown },
  make: (file: File) => { status: number; after?: object } | undefined,
): Plan | undefined {
  const file = model.file(what)
  const user = model.person(who)
  if (!file) return undefined
  const plan = {
    user,
    method: request.method,
    request: () => ({ path: `/v2/files/${file.fid}${request.path}`, json: request.json }),
  }
  const refused = refusal(file, user, access)
  if (refused) return { ...plan, status: refused }
  const failed = make(file)
  if (failed) return { ...plan, status: failed.status }
  return { ...plan, status: 200, shown: detail(file, user), show: detailIn }
}

/** Checks one of the caller's lists, in any order. */
function listOf(
  model: Model,
  who: number,
  name: string,
  belongs: (file: File, user: string) => boolean,
): Plan {
  const user = model.person(who)
  const plan = { user, method: 'GET', request: () => ({ path: `/v2/folders/${name}?page_size=500` }) }
  if (!user) return { ...plan, status: 401 }
  return {
    ...plan,
    status: 200,
    shown: model.files
      .filter((file) => belongs(file, user))
      .map(({ fid }) => fid)
      .sort(),
    show: ({ children }) => children.results.map(({ fid }: { fid: string }) => fid).sort(),
  }
}

/** Registers a new file, named by the response. */
function learnFile(file: File): (answers: { file: { fid: string; cols?: { uid: string }[] } }[]) => void {
  return (answers) => {
    file.fid = answers[0].file.fid
    for (const [k, column] of file.columns.entries())
      column.uids = answers.map((answer) => answer.file.cols![k].uid)
  }
}

export const steps = {
  makeFolder(model, { who, other, name, flag }) {
    const user = model.person(who)
    const folder = flag ? model.ofKind('fold', other) : undefined
    const json = { path: NAMES[name % NAMES.length], parent: idOf(folder) }
    const plan = { user, method: 'POST', request: () => ({ path: '/v2/folders', json }) }
    if (!user) return { ...plan, status: 401 }
    if (folder && folder.owner !== user) return undefined
    if (folder && stateOf(folder) !== 'active') return { ...plan, status: 400 }
    if (model.named(user, folder, json.path)) return { ...plan, status: 409 }
    const made = model.add({ owner: user, kind: 'fold', name: json.path, folder })
    return { ...plan, status: 201, learn: learnFile(made) }
  },

  makeGrid(model, { who, what, other, name, flag }) {
    const user = model.person(who)
    const folder = flag ? model.ofKind('fold', other) : undefined
    const filename = NAMES[name % NAMES.length]
    const columns: Column[] = ['p', 'q', 'r'].slice(0, 1 + (what % 3)).map((column, k) => ({
      uids: [],
      name: column,
      data: [k, what % 7, null, `t${what % 5}`].slice(0, 1 + (other % 4)),
    }))
    const cols = Object.fromEntries(columns.map(({ name: column, data }, order) => [column, { data, order }]))
    const json = { data: { cols }, filename, parent: idOf(folder), world_readable: what % 2 === 0 }
    const plan = { user, method: 'POST', request: () => ({ path: '/v2/grids', json }) }
    if (!user) return { ...plan, status: 401 }
    if (folder && folder.owner !== user) return undefined
    if (folder && stateOf(folder) !== 'active') return { ...plan, status: 400 }
    if (model.named(user, folder, filename)) return { ...plan, status: 409 }
    const made = model.add({
      owner: user,
      kind: 'grid',
      name: filename,
      folder,
      isPublic: json.world_readable,
      columns,
      rows: columns[0].data.length,
    })
    return { ...plan, status: 201, learn: learnFile(made) }
  },

  makePlot(model, { who, what, other, name, flag }) {
    const user = model.person(who)
    const grids = [model.ofKind('grid', what), model.ofKind('grid', other)].filter(
      (grid) => grid !== undefined,
    )
    const sources = grids.flatMap((grid) =>
      grid.columns.length > 0 ? [{ grid, column: grid.columns[name % grid.columns.length] }] : [],
    )
    const filename = NAMES[name % NAMES.length]
    const plan = {
      user,
      method: 'POST',
      request: (service: number) => ({
        path: '/v2/plots',
        json: {
          filename,
          world_readable: flag,
          figure: {
            data: sources.map(({ grid, column }) => ({ ysrc: `${grid.fid}:${column.uids[service]}` })),
            layout: {},
          },
        },
      }),
    }
    if (!user) return { ...plan, status: 401 }
    if (model.named(user, undefined, filename)) return { ...plan, status: 409 }
    if (!sources.every(({ grid }) => may(grid, user, 'read'))) return { ...plan, status: 400 }
    const made = model.add({
      owner: user,
      kind: 'plot',
      name: filename,
      folder: undefined,
      isPublic: flag,
      sources,
    })
    return { ...plan, status: 200, learn: learnFile(made) }
  },

  makeExtra(model, { who, what }) {
    const user = model.person(who)
    const file = model.file(what)
    if (!file || file.kind === 'extra') return undefined
    const json = { filename: 'note', content: 'about it', referencers: [file.fid] }
    const plan = { user, method: 'POST', request: () => ({ path: '/v2/extras', json }) }
    if (!user) return { ...plan, status: 401 }
    const refused = refusal(file, user, 'write')
    if (refused) return { ...plan, status: refused }
    const made = model.add({ owner: user, kind: 'extra', name: 'note', folder: undefined })
    file.extras.add(made)
    return { ...plan, status: 201, learn: learnFile(made) }
  },

  dropReference(model, step) {
    const extra = model.ofKind('extra', step.other)
    if (!extra) return undefined
    const request = { method: 'POST', path: '/drop_reference', json: { fid: extra.fid } }
    return change(model, step, 'write', request, (file) => {
      if (!file.extras.delete(extra)) return { status: 400 }
      return undefined
    })
  },

  rename(model, step) {
    const filename = NAMES[step.name % NAMES.length]
    return change(model, step, 'write', { method: 'PATCH', path: '', json: { filename } }, (file) => {
      const user = model.person(step.who)
      if (filename === file.name) return undefined
      const taken = model.named(file.owner, file.folder, filename)
      if (taken && !file.isTrashed && file.kind !== 'extra') {
        if (may(taken, user, 'read')) return { status: 409 }
        file.name = model.freeName(file.owner, file.folder, filename)
        return undefined
      }
      file.name = filename
      return undefined
    })
  },

  move(model, step) {
    const folder = step.flag ? model.file(step.other) : undefined
    const file = model.file(step.what)
    const user = model.person(step.who)
    // For other users only the refusal is modelled, since folder ids belong to one owner.
    if (!file || file.kind === 'extra' || (folder && folder.owner !== file.owner)) return undefined
    if (user !== file.owner && may(file, user, 'write')) return undefined
    const request = { method: 'PATCH', path: '', json: { parent: idOf(folder) } }
    return change(model, step, 'write', request, () => {
      if (folder && (folder.kind !== 'fold' || stateOf(folder) !== 'active')) return { status: 400 }
      if (folder === file.folder) return undefined
      if (folder && (folder === file || model.below(file).includes(folder))) return { status: 400 }
      if (stateOf(file) === 'active' && model.named(file.owner, folder, file.name)) return { status: 409 }
      // A file moved out of a trashed folder stays in the trash.
      file.isTrashed = stateOf(file) === 'trashed'
      file.folder = folder
      return undefined
    })
  },

  publish(model, step) {
    const request = { method: 'PATCH', path: '', json: { world_readable: step.flag } }
    return change(model, step, 'write', request, (file) => {
      file.isPublic = step.flag
      return undefined
    })
  },

  trash(model, step) {
    return change(model, step, 'trash', { method: 'POST', path: '/trash' }, (file) => {
      file.isTrashed ||= stateOf(file) === 'active'
      return undefined
    })
  },

  restore(model, step) {
    return change(model, step, 'own', { method: 'POST', path: '/restore' }, (file) => {
      if (stateOf(file) === 'active') return undefined
      const folder = file.folder && stateOf(file.folder) === 'active' ? file.folder : undefined
      if (file.kind !== 'extra' && model.named(file.owner, folder, file.name)) return { status: 409 }
      file.isTrashed = false
      file.folder = folder
      return undefined
    })
  },

  remove(model, { who, what }) {
    const file = model.file(what)
    const user = model.person(who)
    if (!file) return undefined
    const path = `/v2/${what % 2 ? 'files' : plural[file.kind]}/${file.fid}/permanent_delete`
    const plan = { user, method: 'DELETE', request: () => ({ path }) }
    const refused = refusal(file, user, 'own')
    if (refused) return { ...plan, status: refused }
    if (stateOf(file) === 'active') return { ...plan, status: 409 }
    const gone = [file, ...model.below(file)]
    for (const one of gone) {
      one.isGone = true
      one.folder = undefined
    }
    // Deleted files have no referencers, and plots show no data of them.
    for (const one of model.files) for (const left of gone) one.extras.delete(left)
    for (const one of model.files) {
      if (one.copiedFrom && gone.includes(one.copiedFrom)) one.copiedFrom = undefined
    }
    return { ...plan, status: 204 }
  },

  copy(model, { who, what, flag, other }) {
    const file = model.file(what)
    const user = model.person(who)
    if (!file) return undefined
    const json = { deep_copy: flag, make_public: other % 2 === 0 }
    const plan = {
      user,
      method: 'POST',
      request: () => ({ path: `/v2/files/${file.fid}/copy`, json }),
    }
    if (!user) return { ...plan, status: 401 }
    const refused = refusal(file, user, 'read')
    if (refused) return { ...plan, status: refused }
    if (file.kind === 'fold') return { ...plan, status: 400 }
    const beside =
      user === file.owner && stateOf(file) === 'active' && (!file.folder || stateOf(file.folder) === 'active')
    const folder = beside ? file.folder : undefined
    const name = file.kind === 'extra' ? file.name : model.freeName(user, folder, file.name)
    const grids = new Map<File, File>()
    const made: File[] = []
    const columnsLike = (columns: Column[]): Column[] => columns.map((column) => ({ ...column }))
    const add = (like: Partial<File> & Pick<File, 'name' | 'kind'>): File => {
      const one = model.add({ owner: user, folder, isPublic: json.make_public, ...like })
      made.push(one)
      return one
    }
    const copied = add({
      kind: file.kind,
      name,
      copiedFrom: file,
      rows: file.rows,
      columns: columnsLike(file.columns),
      sources: file.sources,
    })
    let warned = false
    if (file.kind === 'plot') {
      // See docs/api.md#copies.
      const used = [...new Set(file.sources.map(({ grid }) => grid))].map((grid) => {
        const readable = may(grid, user, 'read')
        const shown = readable || (stateOf(grid) === 'active' && may(grid, file.owner, 'read'))
        return { grid, shown, readable: readable || (user === file.owner && !shown) }
      })
      const deep = flag || used.some(({ readable }) => !readable)
      const missing = file.sources.some(({ grid, column }) => !grid.columns.includes(column))
      warned = missing || used.some(({ readable, shown }) => !readable || !shown)
      for (const { grid, shown, readable } of deep ? used : []) {
        if (!shown) continue
        const columns = readable
          ? grid.columns
          : grid.columns.filter((column) => file.sources.some((source) => source.column === column))
        const wanted = readable ? grid.name : `${file.name}_grid`
        grids.set(
          grid,
          add({
            kind: 'grid',
            name: model.freeName(user, folder, wanted),
            copiedFrom: grid,
            rows: Math.max(0, ...columns.map(({ data }) => data.length)),
            columns: columnsLike(columns),
          }),
        )
      }
      copied.sources = file.sources.map(({ grid, column }) => {
        const copy = grids.get(grid)
        const same = copy?.columns.find(({ uids }) => uids[0] === column.uids[0])
        return copy ? { grid: copy, column: same ?? column } : { grid, column }
      })
    }
    return {
      ...plan,
      status: 200,
      shown: warned,
      show: ({ warnings }) => warnings.length > 0,
      learn(answers) {
        for (const [k, one] of made.entries()) one.fid = answers[0].files[k].fid
      },
    }
  },

  share(model, step) {
    const { who, what, other, flag } = step
    const file = model.file(what)
    const user = model.person(who)
    const whom = model.someone(other)
    if (!file) return undefined
    const json = { users: [whom], readonly: flag }
    const path = `/v2/files/${file.fid}/collaborators`
    const plan = { user, method: 'POST', request: () => ({ path, json }) }
    const refused = refusal(file, user, 'own')
    if (refused) return { ...plan, status: refused }
    if (whom !== file.owner) file.shared.set(whom, !flag)
    return { ...plan, status: 200 }
  },

  unshare(model, { who, what, other }) {
    const file = model.file(what)
    const user = model.person(who)
    const whom = model.someone(other)
    if (!file) return undefined
    const path = `/v2/files/${file.fid}/collaborators`
    const plan = { user, method: 'DELETE', request: () => ({ path, json: { users: [whom] } }) }
    const refused = refusal(file, user, 'own')
    if (refused) return { ...plan, status: refused }
    const was = file.shared.delete(whom)
    return { ...plan, status: 200, shown: was ? 0 : 1, show: ({ warnings }) => warnings.length }
  },

  star(model, { who, what, flag }) {
    const file = model.file(what)
    const user = model.person(who)
    if (!file) return undefined
    const path = `/v2/files/${file.fid}/star`
    const plan = { user, method: flag ? 'POST' : 'DELETE', request: () => ({ path }) }
    if (!user) return { ...plan, status: 401 }
    const refused = refusal(file, user, 'read')
    // Removing a missing star is 204, for any file.
    if (refused) return flag ? { ...plan, status: refused } : undefined
    if (flag) file.stars.add(user)
    else file.stars.delete(user)
    return { ...plan, status: flag ? 200 : 204 }
  },

  addRows(model, { who, what, other, flag }) {
    const file = model.file(what)
    const user = model.person(who)
    if (!file) return undefined
    const width = flag && other % 5 === 0 ? file.columns.length + 1 : file.columns.length
    const rows = [0, 1].map((row) => Array.from({ length: width }, (_, k): Value => (k + row + other) % 11))
    const path = `/v2/grids/${file.fid}/row`
    const plan = { user, method: 'POST', request: () => ({ path, json: { rows } }) }
    const refused = refusal(file, user, 'write', ['grid'])
    if (refused) return { ...plan, status: refused }
    if (width !== file.columns.length || width === 0) return { ...plan, status: 400 }
    for (const [k, column] of file.columns.entries()) {
      // Clients expect that short columns are padded with this before an append.
      const whole = [...column.data, ...Array(file.rows - column.data.length).fill('')]
      column.data = [...whole, ...rows.map((row) => row[k])]
    }
    file.rows += 2
    return { ...plan, status: 201 }
  },

  addColumn(model, { who, what, other, name }) {
    const file = model.file(what)
    const user = model.person(who)
    if (!file) return undefined
    const column: Column = { uids: [], name: NAMES[name % NAMES.length], data: [other % 9, 'c', true] }
    const json = { cols: JSON.stringify([{ name: column.name, data: column.data }]) }
    const plan = {
      user,
      method: 'POST',
      request: () => ({ path: `/v2/grids/${file.fid}/col`, json }),
    }
    const refused = refusal(file, user, 'write', ['grid'])
    if (refused) return { ...plan, status: refused }
    if (file.columns.some((one) => one.name === column.name)) return { ...plan, status: 400 }
    file.columns.push(column)
    file.rows = Math.max(file.rows, column.data.length)
    return {
      ...plan,
      status: 201,
      learn(answers) {
        column.uids = answers.map(({ cols }) => cols.at(-1).uid)
      },
    }
  },

  changeColumn(model, { who, what, other, name, flag }) {
    const file = model.file(what)
    const user = model.person(who)
    const column = file?.columns[other % Math.max(1, file.columns.length)]
    if (!file || !column) return undefined
    const to = NAMES[name % NAMES.length]
    const data: Value[] = Array.from({ length: file.rows }, (_, k) => (k + name) % 4)
    const cols = JSON.stringify([flag ? { name: to } : { data }])
    const plan = {
      user,
      method: 'PUT',
      request: (service: number) => ({
        path: `/v2/grids/${file.fid}/col?uid=${column.uids[service]}`,
        json: { cols },
      }),
    }
    const refused = refusal(file, user, 'write', ['grid'])
    if (refused) return { ...plan, status: refused }
    if (flag && file.columns.some((one) => one !== column && one.name === to)) return { ...plan, status: 400 }
    if (flag) column.name = to
    else column.data = data
    return { ...plan, status: 200 }
  },

  deleteColumn(model, { who, what, other }) {
    const file = model.file(what)
    const user = model.person(who)
    const column = file?.columns[other % Math.max(1, file.columns.length)]
    if (!file || !column) return undefined
    const plan = {
      user,
      method: 'DELETE',
      request: (service: number) => ({ path: `/v2/grids/${file.fid}/col?uid=${column.uids[service]}` }),
    }
    const refused = refusal(file, user, 'write', ['grid'])
    if (refused) return { ...plan, status: refused }
    file.columns = file.columns.filter((one) => one !== column)
    file.rows = Math.max(0, ...file.columns.map(({ data }) => data.length))
    return { ...plan, status: 204 }
  },

  /** Enables or disables the share key; enabling creates a new one. */
  secret(model, { who, what, flag }) {
    const file = model.file(what)
    const user = model.person(who)
    if (!file) return undefined
    const json = { share_key_enabled: flag }
    const plan = { user, method: 'PATCH', request: () => ({ path: `/v2/files/${file.fid}`, json }) }
    const changes = flag !== file.keys.length > 0
    const refused = refusal(file, user, 'write') ?? (changes ? refusal(file, user, 'own') : undefined)
    if (refused) return { ...plan, status: refused }
    if (!flag) file.keys = []
    return {
      ...plan,
      status: 200,
      learn(answers) {
        if (flag && user === file.owner) file.keys = answers.map(({ share_key }) => share_key)
      },
    }
  },

  readWithKey(model, { who, what, flag }) {
    const file = model.ofKind('grid', what)
    const user = model.person(who)
    if (!file) return undefined
    const key = (service: number): string => (flag && file.keys[service]) || 'wrong'
    const plan = {
      user,
      method: 'GET',
      request: (service: number) => ({ path: `/v2/grids/${file.fid}/content?share_key=${key(service)}` }),
    }
    const held = flag && file.keys.length > 0 && stateOf(file) === 'active'
    return { ...plan, status: held ? 200 : (refusal(file, user, 'read') ?? 200) }
  },

  sources(model, { who, what }) {
    const file = model.file(what)
    const user = model.person(who)
    if (!file) return undefined
    const plan = { user, method: 'GET', request: () => ({ path: `/v2/files/${file.fid}/sources` }) }
    const refused = refusal(file, user, 'read')
    if (refused) return { ...plan, status: refused }
    if (file.kind !== 'grid' && file.kind !== 'plot') return { ...plan, status: 400 }
    // See docs/api.md#sources.
    const related: [string, File[]][] = [
      ['parent', file.copiedFrom ? [file.copiedFrom] : []],
      ['child', model.files.filter((one) => one.copiedFrom === file)],
      ['created plots', model.files.filter((one) => one.sources.some(({ grid }) => grid === file))],
      ['source grids', [...new Set(file.sources.map(({ grid }) => grid))]],
    ]
    const shown = related.flatMap(([relation, files]) =>
      files.filter((one) => may(one, user, 'read')).map((one) => `${relation} ${one.fid}`),
    )
    // More than five per relation are paged, which is tested elsewhere.
    if (shown.length > 5) return { ...plan, status: 200 }
    return {
      ...plan,
      status: 200,
      shown: shown.sort(),
      show: ({ graph }) =>
        graph.edges
          .map(({ relation, target }: { relation: string; target: string }) => `${relation} ${target}`)
          .sort(),
    }
  },

  show(model, { who, what, flag }) {
    const file = model.file(what)
    const user = model.person(who)
    if (!file) return undefined
    const path = flag ? `/v2/files/${file.fid}` : `/v2/${plural[file.kind]}/${file.fid}`
    const plan = { user, method: 'GET', request: () => ({ path }) }
    const refused = refusal(file, user, 'read')
    if (refused) return { ...plan, status: refused }
    return { ...plan, status: 200, shown: detail(file, user), show: detailIn }
  },

  showOfOtherKind(model, { who, what }) {
    const file = model.file(what)
    if (!file || file.kind === 'plot') return undefined
    return {
      user: model.person(who),
      method: 'GET',
      request: () => ({ path: `/v2/plots/${file.fid}` }),
      status: 404,
    }
  },

  content(model, { who, what }) {
    const file = model.file(what)
    const user = model.person(who)
    if (!file || (file.kind !== 'grid' && file.kind !== 'plot')) return undefined
    const inline = file.kind === 'plot' ? '?inline_data=true' : ''
    const path = `/v2/${plural[file.kind]}/${file.fid}/content${inline}`
    const plan = { user, method: 'GET', request: () => ({ path }) }
    const refused = refusal(file, user, 'read')
    if (refused) return { ...plan, status: refused }
    if (file.kind === 'grid') {
      const shown = file.columns.map(({ name, data }) => [
        name,
        [...data, ...Array(file.rows - data.length).fill(null)],
      ])
      return {
        ...plan,
        status: 200,
        shown,
        show: ({ cols }) =>
          Object.entries(cols as Record<string, { data: Value[]; order: number }>)
            .sort(([, a], [, b]) => a.order - b.order)
            .map(([name, { data }]) => [
              name,
              [...data, ...Array(Math.max(0, file.rows - data.length)).fill(null)],
            ]),
      }
    }
    // Reading a plot includes the data that its owner may currently read.
    const shown = file.sources.map(({ grid, column }) => {
      const readable =
        may(grid, user, 'read') || (stateOf(grid) === 'active' && may(grid, file.owner, 'read'))
      return readable && grid.columns.includes(column)
        ? [...column.data, ...Array(grid.rows - column.data.length).fill(null)]
        : null
    })
    return {
      ...plan,
      status: 200,
      shown,
      show: ({ data }) =>
        data.map(({ y }: { y?: Value[] }, k: number) =>
          y ? [...y, ...Array(Math.max(0, file.sources[k].grid.rows - y.length)).fill(null)] : null,
        ),
    }
  },

  list(model, { who, what, other, flag }) {
    const user = model.person(who)
    const folder = flag ? model.ofKind('fold', what) : undefined
    const owner = folder?.owner ?? model.someone(other)
    const path = folder ? `/v2/folders/${folder.fid}` : `/v2/folders/home?user=${owner}`
    const plan = { user, method: 'GET', request: () => ({ path }) }
    if (folder) {
      const refused = refusal(folder, user, 'read')
      if (refused) return { ...plan, status: refused }
    }
    const shown = model.files
      .filter(
        (file) =>
          file.owner === owner &&
          file.folder === folder &&
          stateOf(file) === 'active' &&
          file.kind !== 'extra' &&
          may(file, user, 'read'),
      )
      .sort(byBytes)
      .map((file) => meta(file, user))
    return { ...plan, status: 200, shown, show: ({ children }) => children.results.map(metaIn) }
  },

  /** Requests a page of files, by type and order, with the total count. */
  all(model, { who, what, other, name, flag }) {
    const user = model.person(who)
    const owner = model.someone(other)
    const size = 3
    const number = 1 + (what % 3)
    const type = [undefined, 'grid', 'plot', 'fold'][name % 4]
    const query = `user=${owner}&page_size=${size}&page=${number}&order_by=${flag ? '-' : ''}filename${type ? `&filetype=${type}` : ''}`
    const plan = { user, method: 'GET', request: () => ({ path: `/v2/folders/all?${query}` }) }
    const found = model.files
      .filter(
        (file) =>
          file.owner === owner &&
          stateOf(file) === 'active' &&
          (type ? file.kind === type : file.kind !== 'extra') &&
          may(file, user, 'read'),
      )
      .sort((a, b) => byBytes(a, b) || idOf(a) - idOf(b))
    if (flag) found.reverse()
    const page = found.slice((number - 1) * size, number * size)
    if (page.length === 0 && number > 1) return { ...plan, status: 404 }
    return {
      ...plan,
      status: 200,
      shown: { count: found.length, fids: page.map(({ fid }) => fid), isLast: number * size >= found.length },
      show: ({ children }) => ({
        count: children.count,
        fids: children.results.map(({ fid }: { fid: string }) => fid),
        isLast: children.next === null,
      }),
    }
  },

  trashed: (model, { who }) =>
    listOf(model, who, 'trashed', (file, user) => file.owner === user && file.isTrashed && !file.isGone),

  shared: (model, { who }) =>
    listOf(model, who, 'shared', (file, user) => stateOf(file) === 'active' && file.shared.has(user)),

  starred: (model, { who }) =>
    listOf(
      model,
      who,
      'starred',
      (file, user) => stateOf(file) === 'active' && file.stars.has(user) && may(file, user, 'read'),
    ),

  lookUp(model, { who, what, other, flag }) {
    const user = model.person(who)
    const file = model.file(what)
    if (!file || file.kind === 'extra') return undefined
    const names = [file.name]
    for (let folder = file.folder; folder; folder = folder.folder) names.unshift(folder.name)
    const owner = flag ? file.owner : model.someone(other)
    const path = `/v2/files/lookup?user=${owner}&path=${encodeURIComponent(names.join('/'))}`
    const plan = { user, method: 'GET', request: () => ({ path }) }
    const at = names.reduce<File | null | undefined>(
      (folder, name) => (folder === null ? null : (model.named(owner, folder, name) ?? null)),
      undefined,
    )
    if (!at || !may(at, user, 'read')) return { ...plan, status: 404 }
    return { ...plan, status: 200, shown: detail(at, user), show: detailIn }
  },

  path(model, { who, what }) {
    const file = model.file(what)
    const user = model.person(who)
    if (!file) return undefined
    const plan = { user, method: 'GET', request: () => ({ path: `/v2/files/${file.fid}/path` }) }
    const refused = refusal(file, user, 'read')
    if (refused) return { ...plan, status: refused }
    return { ...plan, status: file.kind === 'extra' ? 400 : 200 }
  },
} satisfies Steps
