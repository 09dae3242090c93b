// Table of all API operations. Routes, client, validation, OpenAPI document and permission tests are derived
// from it.
import type * as s from '../schema.ts'
import { accountsOperations } from './accounts.ts'
import { alertsOperations } from './alerts.ts'
import { checksOperations } from './checks.ts'
import { collaboratorsOperations } from './collaborators.ts'
import { columnsOperations } from './columns.ts'
import { dashboardsOperations } from './dashboards.ts'
import { derivationsOperations } from './derivations.ts'
import { draftsOperations } from './drafts.ts'
import { extrasOperations } from './extras.ts'
import { filesOperations } from './files.ts'
import { foldersOperations } from './folders.ts'
import { gridsOperations } from './grids.ts'
import { imagesOperations } from './images.ts'
import { mailingsOperations } from './mailings.ts'
import { type Method, type Operation, type Resource, resources } from './operation.ts'
import { plotsOperations } from './plots.ts'
import { queriesOperations } from './queries.ts'
import { refreshesOperations } from './refreshes.ts'
import { serviceOperations } from './service.ts'
import { teamsOperations } from './teams.ts'
import { uploadsOperations } from './uploads.ts'
import { versionsOperations } from './versions.ts'

export * from './operation.ts'
export {
  contentFormats,
  dataTypes,
  type ImageFormat,
  imageFormats,
  imageNames,
  imageTypes,
  uploadTypes,
} from './shared.ts'

export const operations = {
  ...gridsOperations,
  ...uploadsOperations,
  ...columnsOperations,
  ...checksOperations,
  ...draftsOperations,
  ...filesOperations,
  ...versionsOperations,
  ...collaboratorsOperations,
  ...extrasOperations,
  ...plotsOperations,
  ...dashboardsOperations,
  ...imagesOperations,
  ...queriesOperations,
  ...alertsOperations,
  ...mailingsOperations,
  ...derivationsOperations,
  ...refreshesOperations,
  ...foldersOperations,
  ...accountsOperations,
  ...teamsOperations,
  ...serviceOperations,
}

export type Operations = typeof operations
export type OperationName = keyof Operations

/** TypeScript type of an operation's response body. */
export type ResultOf<N extends OperationName> = Operations[N]['result'] extends s.Schema
  ? s.Static<Operations[N]['result']>
  : undefined

/** TypeScript type of an operation's query parameters. */
export type QueryOf<N extends OperationName> = Operations[N] extends { query: infer Q extends s.Schema }
  ? s.Static<Q>
  : Record<string, never>

/** JSON body of an operation, as clients send it. */
export type BodyOf<N extends OperationName> = Operations[N]['body'] extends {
  schema: infer S extends s.Schema
}
  ? s.Static<S>
  : Operations[N]['body'] extends { json: infer S extends s.Schema }
    ? s.Static<S>
    : Record<never, never>

/** Names of body fields that an operation receives as unparsed bytes. */
export type RawOf<N extends OperationName> = Operations[N]['body'] extends { raw?: readonly (infer R)[] }
  ? string extends R
    ? never
    : R
  : never

/** Gridline's own headers of an operation, by name without prefix. */
export type HeadersOf<N extends OperationName> = Operations[N] extends {
  headers: infer H extends Record<string, s.Schema>
}
  ? { [K in keyof H]?: s.Static<H[K]> }
  : Record<never, never>

/** Returns the path of an operation: `pathOf('grids.get', 'alice:1')` is `/v2/grids/alice:1`. */
export function pathOf(name: OperationName, id?: string): string {
  const { path } = operations[name]
  // Do not percent-encode the colon of a fid: clients search for it.
  return id === undefined ? path : path.replace(/:\w+/, encodeURIComponent(id).replace('%3A', ':'))
}

/** Returns all paths of an operation, each with the filetype that it is restricted to. */
export function routesOf({
  path,
  alsoUnder = [],
}: Operation): { path: string; filetype: FileKind | undefined }[] {
  const [, version, resource, ...rest] = path.split('/')
  return [resource, ...alsoUnder].map((name) => ({
    path: name === undefined ? path : ['', version, name, ...rest].join('/'),
    filetype: resources[name as Resource],
  }))
}

export type FileKind = Exclude<(typeof resources)[Resource], undefined>

/** Returns the methods of an operation. */
export function methodsOf({ method, synonym }: Operation): Method[] {
  return synonym ? [method, synonym] : [method]
}
