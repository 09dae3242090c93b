/** Runs queries on grids. */
import { rm } from 'node:fs/promises'
import { Problem } from '../../contract/errors.ts'
import type { Limits } from '../../contract/limits.ts'
import type { Bytes } from '../../json/index.ts'
import { type QueryParameter, type QueryResult, queryLimitsOf, runQuery } from '../../sql/index.ts'
import type { Principal } from '../access/access.ts'
import { Admission } from '../core/admission.ts'
import type { Service } from '../core/context.ts'
import { createMemorySnapshot, type Snapshot } from '../grids/column/snapshot.ts'
import { type NameScope, type QueriedTable, takeTableSnapshots } from './query-tables.ts'
import { TableFiles } from './table-files.ts'

/** Number of queries that wait for each one that runs. */
const WAITING_PER_QUERY = 4
/** Number of refreshes that wait. */
const WAITING_IN_BACKGROUND = 100
/** Maximum wait of a query, in ms. */
const MAX_WAIT_MS = 2000

export interface GridQuery {
  sql: string
  parameters: Readonly<Record<string, QueryParameter>>
  /** Names of tables in the query → path or id of the grid. */
  tables: Readonly<Record<string, string>>
  /** Where other names are looked up. Default: in the home folder. */
  scope?: NameScope
  /** The same rows give the same result, in more time. */
  isRepeatable?: boolean
}

/** The result of a query, and the grids that it shows. */
export interface GridQueryResult {
  snapshot: Snapshot
  tables: QueriedTable[]
}

/** The user whose share of the slots a query takes, or the slot of refreshes. */
export type QuerySlot = string | { isBackground: true }

/** Runs a few queries at once. */
export class Queries {
  private readonly admission: Admission
  /** Refreshes of derived grids, which leave the other slots to people. */
  private readonly background = new Admission(
    { running: 1, waiting: WAITING_IN_BACKGROUND, wait: MAX_WAIT_MS },
    'queries_at_once',
  )
  private readonly files: TableFiles
  /** Size of the results that are being sent. */
  private heldBytes = 0
  private readonly unread = new FinalizationRegistry<() => void>((release) => release())

  /** `place`: folder for copies of grids; undefined for a temporary one. */
  constructor(
    private readonly limits: Limits,
    place: string | undefined,
  ) {
    const { queries_at_once: running } = limits
    this.admission = new Admission(
      { running, waiting: running * WAITING_PER_QUERY, wait: MAX_WAIT_MS },
      'queries_at_once',
    )
    this.files = new TableFiles(place, limits.query_cache_bytes)
  }

  /** Returns the body of a response from a result. Results that readers have not received yet are counted. */
  hold({ columns }: Snapshot, body: Bytes): Bytes {
    const bytes = columns.reduce((sum, { tail }) => sum + tail.length, 0)
    this.heldBytes += bytes
    let isHeld = true
    const release = (): void => {
      if (isHeld) this.heldBytes -= bytes
      isHeld = false
    }
    const held = releaseAtEnd(body, release)
    // A body that nobody begins to read has no end.
    this.unread.register(held, release)
    return held
  }

  /** Runs a query with the rights of a principal. */
  run(service: Service, slot: QuerySlot, principal: Principal, query: GridQuery): Promise<GridQueryResult> {
    const { isAborted } = principal
    const { queries_at_once, query_result_bytes } = this.limits
    if (this.heldBytes >= queries_at_once * query_result_bytes)
      throw new Problem('overloaded', 'too many results of queries are still being sent')
    const isBackground = typeof slot !== 'string'
    return (isBackground ? this.background : this.admission).run(
      isBackground ? '' : slot,
      async () => {
        const { result, tables } = await this.runNow(service, principal, query)
        const { columns, rows, texts } = result
        return { snapshot: createMemorySnapshot(service.store, columns, rows, texts), tables }
      },
      isAborted,
    )
  }

  private async runNow(
    service: Service,
    principal: Principal,
    query: GridQuery,
  ): Promise<{ result: QueryResult; tables: QueriedTable[] }> {
    const { sql, parameters, isRepeatable } = query
    const folder = await this.files.createWorkFolder()
    const kept: (() => Promise<void>)[] = []
    let queried: QueriedTable[] = []
    const given = new Map(Object.entries(query.tables).map(([name, grid]) => [name.toLowerCase(), grid]))
    try {
      const result = await runQuery(
        {
          sql,
          parameters,
          isRepeatable,
          folder,
          isAborted: principal.isAborted,
          openTables: async (names, isAfresh) => {
            const words = isAfresh ? undefined : names.words
            const tables = []
            const budget = {
              files: new Map(),
              bytesLeft: this.limits.query_cache_bytes,
              isAborted: principal.isAborted,
            }
            queried = await takeTableSnapshots(service, principal, names.tables, given, query.scope)
            for (const { table, snapshot } of queried) {
              const { file, keep } = await this.files.get(snapshot, { isAfresh, words }, folder, budget)
              kept.push(keep)
              tables.push({ table, ...file })
            }
            return { tables }
          },
        },
        queryLimitsOf(this.limits),
      )
      // Copies are an optimization: a full disk must not fail the query.
      for (const keep of kept) await keep().catch(() => {})
      return { result, tables: queried }
    } finally {
      await rm(folder, { recursive: true, force: true })
      await this.files.prune().catch(() => {})
    }
  }

  /** Deletes old copies of grids. */
  prune(): Promise<void> {
    return this.files.prune()
  }

  close(): Promise<void> {
    return this.files.close()
  }
}

/** Calls a function when a body has been read, or is no longer read. */
async function* releaseAtEnd(body: Bytes, release: () => void): Bytes {
  try {
    yield* body
  } finally {
    release()
  }
}
