// A service with users, called through its fetch.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, inject } from 'vitest'
import { createKey, createUser } from '../../src/service/admin.ts'
import { createService, type RunningService, type ServiceOptions } from '../../src/service/index.ts'
import { PATIENT } from './patience.ts'
import { newDatabase } from './postgres.ts'
import { isLong } from './property-runs.ts'
import { S3Server } from './s3.ts'
import { ShardWatch } from './shards.ts'

export const URL_OF_TESTS = 'http://gridline.test'

/** Returns the idlocal of a file. */
export const idlocal = (fid: string): number => Number(fid.split(':')[1])

/** Creates a figure of one trace. */
export const scatter = (y: unknown[]): object => ({ data: [{ type: 'scatter', y }], layout: {} })

export function temporaryFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'gridline-test-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

export interface Answer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  json: any
}

export interface Ask {
  json?: unknown
  body?: string | Uint8Array | ReadableStream
  headers?: Record<string, string>
}

/** A service with users, called through its fetch function. */
export class TestService {
  readonly keys = new Map<string, string>()

  constructor(
    readonly service: RunningService,
    /** The address of its database, to open it again. */
    readonly database = '',
    /** The location of its objects, if not the database. */
    readonly place: Partial<ServiceOptions> = {},
  ) {
    // As servers do: every test of the service is one of the cache.
    service.cacheResponses()
  }

  async user(name: string): Promise<void> {
    this.keys.set(name, (await createUser(this.service.store, name)).api_key)
  }

  async key(name: string, options: { scopes?: string; expires?: string }): Promise<string> {
    return (await createKey(this.service.store, name, options)).api_key
  }

  /** Sends a request as `user`, or anonymously. */
  async ask(
    user: string | undefined,
    method: string,
    path: string,
    { json, body, headers = {} }: Ask = {},
  ): Promise<Answer> {
    const all: Record<string, string> = { ...headers }
    if (user !== undefined)
      all.authorization ??= `Basic ${Buffer.from(`${user}:${this.keys.get(user)}`).toString('base64')}`
    if (json !== undefined) all['content-type'] ??= 'application/json'
    const init = {
      method,
      headers: all,
      body: json === undefined ? body : JSON.stringify(json),
      duplex: 'half',
    }
    const response = await this.service.fetch(new Request(URL_OF_TESTS + path, init as RequestInit))
    const text = await response.text()
    let parsed: unknown
    try {
      parsed = JSON.parse(text)
    } catch {
      parsed = undefined
    }
    return { status: response.status, headers: response.headers, text, json: parsed }
  }

  async status(user: string | undefined, method: string, path: string, more: Ask = {}): Promise<number> {
    return (await this.ask(user, method, path, more)).status
  }

  /** Creates a grid from columns by name; returns its metadata. */
  async grid(
    user: string,
    filename: string,
    columns: Record<string, unknown[]>,
    more: object = {},
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  ): Promise<any> {
    const cols = Object.fromEntries(
      Object.entries(columns).map(([name, data], order) => [name, { data, order }]),
    )
    const { status, json, text } = await this.ask(user, 'POST', '/v2/grids', {
      json: { data: { cols }, filename, ...more },
    })
    if (status !== 201) throw new Error(`grid: ${status} ${text}`)
    return json.file
  }

  /** Creates a plot whose arrays are moved into a grid. */
  async plot(
    user: string,
    figure: object,
    more: object = {},
  ): Promise<{ file: { fid: string }; grid_fid: string }> {
    const { status, json, text } = await this.ask(user, 'POST', '/v2/plots', {
      json: { figure, raw_data: 'grid', ...more },
    })
    if (status !== 200) throw new Error(`plot: ${status} ${text}`)
    return json
  }
}

let bucket: Promise<S3Server> | undefined

/** Location of the run's objects outside of the database; almost all objects go there, however small. */
async function placeOfBytes(folder: string): Promise<Partial<ServiceOptions>> {
  if (inject('store') === 'files') return { blobs: `file:${folder}/bytes`, maxInlineBytes: 64 }
  if (inject('store') !== 's3') return {}
  bucket ??= new S3Server().start()
  const { address, environment } = await bucket
  // The prefix is new for each database.
  return { blobs: address.replace('some/prefix', basename(folder)), environment, maxInlineBytes: 64 }
}

type StoreTests = (test: () => TestService, engine: 'sqlite' | 'postgres') => void

/** Runs the same tests over SQLite and PostgreSQL, each with users alice and bob. */
export function onBothStores(name: string, tests: StoreTests): void {
  for (const engine of ['sqlite', 'postgres'] as const) onStore(engine, name, tests, true)
}

/** Like `onBothStores`, for tests that hardly depend on the store: PostgreSQL only in long runs and store runs. */
export function onSqliteFirst(name: string, tests: StoreTests): void {
  onStore('sqlite', name, tests, true)
  onStore('postgres', name, tests, isLong || process.env.GRIDLINE_TEST_STORE !== undefined)
}

function onStore(engine: 'sqlite' | 'postgres', name: string, tests: StoreTests, isRun: boolean): void {
  describe.runIf(isRun)(`${name} [${engine}]`, () => {
    let running: TestService
    const folder = temporaryFolder()
    let shards: ShardWatch | undefined
    beforeAll(async () => {
      if (engine === 'postgres' && inject('store') === 'citus') shards = new ShardWatch()
      const database =
        engine === 'sqlite' ? `sqlite:${join(folder.path, 'test.db')}` : await newDatabase(inject('postgres'))
      const place = engine === 'postgres' ? await placeOfBytes(folder.path) : {}
      const options = { database, url: URL_OF_TESTS, environment: PATIENT, ...place }
      running = new TestService(await createService(options), database, place)
      await running.user('alice')
      await running.user('bob')
    })
    afterAll(async () => {
      await running.service.close()
      folder.remove()
      const several = shards?.unexpected()
      shards?.stop()
      if (several?.length) throw new Error(`these reach more than one shard:\n${several.join('\n')}`)
    })
    tests(() => running, engine)
  })
}
