// Loads the handlers of operations when they are first called: a short command needs few of them.
import type { OperationName } from '../../contract/operations/index.ts'
import type { Handler, Handlers } from './handler.ts'

/** Modules of handlers. */
const modules = {
  mailings: async () => (await import('./mailings.ts')).mailingHandlers,
  alerts: async () => (await import('./alerts.ts')).alertHandlers,
  accounts: async () => (await import('./accounts.ts')).accountHandlers,
  checks: async () => (await import('./checks.ts')).checksHandlers,
  collaborators: async () => (await import('./collaborators.ts')).sharingHandlers,
  columns: async () => (await import('./columns.ts')).columnHandlers,
  content: async () => (await import('./grids.content.ts')).contentHandlers,
  dashboards: async () => (await import('./dashboards.ts')).dashboardHandlers,
  derive: async () => (await import('./grids.derive.ts')).deriveHandlers,
  describe: async () => (await import('./grids.describe.ts')).describeHandlers,
  diff: async () => (await import('./grids.diff.ts')).diffHandlers,
  drafts: async () => (await import('./drafts.ts')).draftHandlers,
  extras: async () => (await import('./extras.ts')).extraHandlers,
  files: async () => (await import('./files.ts')).fileHandlers,
  folders: async () => (await import('./folders.ts')).folderHandlers,
  grids: async () => (await import('./grids.ts')).gridHandlers,
  gridUpload: async () => (await import('./grids.upload.ts')).gridUploadHandlers,
  rowHistory: async () => (await import('./rows.history.ts')).rowHistoryHandlers,
  queries: async () => (await import('./queries.ts')).queryHandlers,
  images: async () => (await import('./images.ts')).imageHandlers,
  plots: async () => (await import('./plots.ts')).plotHandlers,
  refreshes: async () => (await import('./refreshes.ts')).refreshHandlers,
  rows: async () => (await import('./rows.ts')).rowHandlers,
  system: async () => (await import('./service.ts')).systemHandlers,
  teams: async () => (await import('./teams.ts')).teamHandlers,
  uploads: async () => (await import('./uploads.ts')).uploadHandlers,
  versions: async () => (await import('./versions.ts')).versionHandlers,
} satisfies Record<string, () => Promise<Partial<Handlers>>>
type Modules = typeof modules

/** Module that has the handler of an operation. */
type ModuleOf<N extends OperationName> = {
  [M in keyof Modules]: N extends keyof Awaited<ReturnType<Modules[M]>> ? M : never
}[keyof Modules]

/** Module of each operation. A missing or wrong one is a compile error. */
const moduleByOperation: { [N in OperationName]: ModuleOf<N> } = {
  'users.current': 'accounts',
  'users.get': 'accounts',
  'keys.list': 'accounts',
  'logins.redeem': 'accounts',
  'oidc.exchange': 'accounts',
  'keys.create': 'accounts',
  'sessions.create': 'accounts',
  'sessions.delete': 'accounts',
  'keys.revoke': 'accounts',
  'mailings.list': 'mailings',
  'mailings.send': 'mailings',
  'mailings.create': 'mailings',
  'mailings.delete': 'mailings',
  'alerts.list': 'alerts',
  'alerts.create': 'alerts',
  'alerts.update': 'alerts',
  'alerts.test': 'alerts',
  'alerts.delete': 'alerts',
  'checks.run': 'checks',
  'checks.get': 'checks',
  'checks.set': 'checks',
  'collaborators.list': 'collaborators',
  'collaborators.add': 'collaborators',
  'collaborators.remove': 'collaborators',
  'columns.get': 'columns',
  'columns.create': 'columns',
  'columns.update': 'columns',
  'columns.delete': 'columns',
  'grids.content': 'content',
  'dashboards.list': 'dashboards',
  'dashboards.create': 'dashboards',
  'dashboards.schema': 'dashboards',
  'dashboards.get': 'dashboards',
  'dashboards.update': 'dashboards',
  'grids.derive': 'derive',
  'derivations.list': 'derive',
  'derivations.get': 'derive',
  'refreshes.list': 'refreshes',
  'refreshes.get': 'refreshes',
  'refreshes.set': 'refreshes',
  'refreshes.run': 'refreshes',
  'refreshes.delete': 'refreshes',
  'derivations.delete': 'derive',
  'grids.describe': 'describe',
  'grids.diff': 'diff',
  'drafts.list': 'drafts',
  'drafts.charts': 'drafts',
  'drafts.delete': 'drafts',
  'extras.create': 'extras',
  'files.get': 'files',
  'files.lookup': 'files',
  'files.update': 'files',
  'files.delete': 'files',
  'files.trash': 'files',
  'files.restore': 'files',
  'files.permanent_delete': 'files',
  'files.content': 'files',
  'files.copy': 'files',
  'files.image': 'files',
  'files.path': 'files',
  'files.sources': 'files',
  'files.drop_reference': 'files',
  'stars.add': 'files',
  'stars.remove': 'files',
  'folders.create': 'folders',
  'folders.home': 'folders',
  'folders.all': 'folders',
  'folders.shared': 'folders',
  'folders.starred': 'folders',
  'folders.trashed': 'folders',
  'folders.search': 'folders',
  'folders.lookup': 'folders',
  'folders.get': 'folders',
  'grids.create': 'grids',
  'grids.lookup': 'grids',
  'grids.get': 'grids',
  'grids.upload': 'gridUpload',
  'images.create': 'images',
  'queries.run': 'queries',
  'plots.create': 'plots',
  'plots.update': 'plots',
  'plots.get': 'plots',
  'plots.lookup': 'plots',
  'plots.content': 'plots',
  'plots.list': 'plots',
  'plots.feed': 'plots',
  'feed.add': 'plots',
  'feed.remove': 'plots',
  'rows.append': 'rows',
  'rows.history': 'rowHistory',
  'service.index': 'system',
  'service.openapi': 'system',
  'service.docs': 'system',
  'service.metrics': 'system',
  'service.health': 'system',
  'service.ready': 'system',
  'teams.list': 'teams',
  'teams.create': 'teams',
  'teams.get': 'teams',
  'teams.delete': 'teams',
  'members.add': 'teams',
  'members.remove': 'teams',
  'uploads.create': 'uploads',
  'uploads.get': 'uploads',
  'uploads.put': 'uploads',
  'uploads.delete': 'uploads',
  'versions.list': 'versions',
  'versions.revert': 'versions',
  'versions.keep': 'versions',
  'versions.forget': 'versions',
}

/** Handlers that were loaded. */
const loaded = new Map<OperationName, Handler<OperationName>>()

/** Returns the handler of an operation; a promise if its module is not loaded yet. */
export function findHandler(name: OperationName): Handler<OperationName> | Promise<Handler<OperationName>> {
  return loaded.get(name) ?? loadModule(name)
}

/** Loads the handlers of all operations: a server needs most of them. */
export async function loadAllHandlers(): Promise<void> {
  for (const name of Object.keys(moduleByOperation) as OperationName[]) await findHandler(name)
}

async function loadModule(name: OperationName): Promise<Handler<OperationName>> {
  const handlers: Partial<Handlers> = await modules[moduleByOperation[name]]()
  const handler = handlers[name] as Handler<OperationName>
  loaded.set(name, handler)
  return handler
}
