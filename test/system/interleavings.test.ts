// Two servers on one database whose transactions take turns in any order, and that die between any two of them: no version
// loses a byte, no acknowledged write is lost, and nothing that is left behind is damage.
import { afterAll, expect, it } from 'vitest'
import { createService } from '../../src/service/index.ts'
import type { Engine } from '../../src/service/store/engines/engine.ts'
import { verifyStore } from '../../src/service/store/upkeep/verify.ts'
import { runs } from '../support/property-runs.ts'
import { onBothStores, TestService, URL_OF_TESTS } from '../support/service.ts'

type Random = (below: number) => number

function randomly(seed: number): Random {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** A server whose transactions wait for the scheduler. */
class Node {
  private readonly waiting: (() => void)[] = []
  private noteWaiting: () => void = () => {}
  private noteEnd: () => void = () => {}
  isGated = false
  isDead = false

  constructor(readonly server: TestService) {
    const { engine } = server.service.store
    const mutable = engine as { -readonly [K in keyof Engine]: Engine[K] }
    for (const name of ['read', 'write', 'writeDeferred'] as const) {
      const original = engine[name].bind(engine) as (...given: unknown[]) => Promise<unknown>
      mutable[name] = (async (...given: unknown[]) => {
        if (this.isGated) await this.turn()
        try {
          return await original(...given)
        } finally {
          this.noteEnd()
        }
      }) as never
    }
    mutable.forOwner = () => engine
  }

  private turn(): Promise<void> {
    return new Promise((resolve) => {
      if (this.isDead) return
      this.waiting.push(resolve)
      this.noteWaiting()
    })
  }

  /** Resolves when a transaction waits. */
  get hasWaiting(): Promise<void> {
    if (this.waiting.length > 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.noteWaiting = resolve
    })
  }

  /** Runs one transaction to its end. */
  async step(): Promise<void> {
    const next = this.waiting.shift()
    if (!next) return
    const ended = new Promise<void>((resolve) => {
      this.noteEnd = resolve
    })
    next()
    await ended
  }

  /** Stops scheduling: all waiting and later transactions run. */
  open(): void {
    this.isGated = false
    for (const resolve of this.waiting.splice(0)) resolve()
  }

  kill(): void {
    this.isDead = true
    this.waiting.length = 0
  }
}

interface Answered {
  status: number
  version?: number
  /** Expected content of the version. */
  content?: string
  rows?: string[]
}

onBothStores('two servers, step by step', (test, engine) => {
  const dead: TestService[] = []
  afterAll(async () => {
    for (const { service } of dead) await service.store.close()
  })

  it('no acknowledged write is lost, in any order and at any crash', async () => {
    const random = randomly(engine === 'sqlite' ? 11 : 12)
    const open = async (): Promise<Node> => {
      const { database, keys } = test()
      const server = new TestService(
        await createService({ database, url: URL_OF_TESTS, environment: {} }),
        database,
      )
      for (const [user, key] of keys) server.keys.set(user, key)
      return new Node(server)
    }
    const quiet = test()
    const table = (): string => {
      const rows = 1 + random(12)
      return `id,n\n${Array.from({ length: rows }, (_, k) => `${k},${random(5)}\n`).join('')}`
    }
    const upload = (node: TestService, csv: string, headers: Record<string, string> = {}) =>
      node.ask('alice', 'POST', '/v2/grids/upload', {
        body: csv,
        headers: {
          'content-type': 'text/csv',
          'x-file-name': 'g.csv',
          'gridline-on-conflict': 'replace',
          ...headers,
        },
      })
    const { fid } = (await upload(quiet, table())).json.file
    const path = `/v2/grids/${fid}`
    const read = (version = '') => quiet.ask('alice', 'GET', `${path}/content?format=csv${version}`)
    const versions = async (): Promise<number[]> =>
      (await quiet.ask('alice', 'GET', `${path}/versions?page_size=1000`)).json.versions.map(
        ({ version }: { version: number }) => version,
      )
    /** Possible contents of each draft after a round; undefined for none. */
    const drafts = new Map<string, Set<string | undefined>>()
    const mayBe = (name: string, csv: string | undefined): void => {
      drafts.set(name, new Set([...(drafts.get(name) ?? [undefined]), csv]))
    }
    /** Writes of a server, with the expected content of the acknowledged version. */
    const writes: ((node: TestService) => Promise<Answered>)[] = [
      async (node) => {
        const csv = table()
        const { status, json } = await upload(node, csv)
        return { status, version: json.version, content: csv }
      },
      async (node) => {
        const csv = table()
        const { status, json } = await upload(node, csv, { 'gridline-key': 'id' })
        return { status, version: json.version }
      },
      async (node) => {
        const row = [100 + random(1000), random(5)]
        const { status, json } = await node.ask('alice', 'POST', `${path}/row`, { json: { rows: [row] } })
        return { status, version: json.version, rows: [row.join(',')] }
      },
      async (node) => {
        const known = await versions()
        const to = known[random(known.length)]
        const content = (await read(`&version=${to}`)).text
        const { status, json } = await node.ask('alice', 'POST', `${path}/revert`, {
          json: { version: String(to) },
        })
        return { status, version: json.version, content: status === 200 ? content : undefined }
      },
      async (node) => {
        const known = await versions()
        const { status } = await node.ask('alice', 'POST', `${path}/keep`, {
          json: { version: String(known[random(known.length)]) },
        })
        return { status }
      },
      async (node) => {
        const name = `d${random(2)}`
        const csv = table()
        mayBe(name, csv)
        return { status: (await upload(node, csv, { 'gridline-draft': name })).status }
      },
      async (node) => {
        const name = `d${random(2)}`
        mayBe(name, undefined)
        return { status: (await node.ask('alice', 'DELETE', `/v2/drafts/${name}`)).status }
      },
      async (node) => {
        await node.service.store.sweep()
        return { status: 200 }
      },
    ]
    /** Deletes old versions, as if they had expired. */
    const forget = async (known: Map<number, string>): Promise<void> => {
      const all = await versions()
      for (const version of all.slice(3)) {
        if (random(3) > 0) continue
        await quiet.ask('alice', 'DELETE', `${path}/versions?version=${version}`)
        known.delete(version)
      }
    }
    const known = new Map<number, string>()
    const nodes = [await open(), await open()]
    for (let round = 0; round < runs(5, 1000); round++) {
      // Simulates a day, after which unreferenced blobs may be deleted.
      await quiet.service.store.engine.write([], (db) =>
        db.updateTable('objects').set({ changed_at: 0 }).execute(),
      )
      const answers: Promise<Answered | undefined>[] = []
      const ended = nodes.map(() => false)
      for (const [k, node] of nodes.entries()) {
        node.isGated = true
        const write = writes[random(writes.length)]
        answers.push(
          write(node.server).then((answer) => {
            ended[k] = true
            return answer
          }),
        )
      }
      while (ended.some((one, k) => !one && !nodes[k].isDead)) {
        const k = random(nodes.length)
        const node = nodes[k]
        if (ended[k] || node.isDead) continue
        await Promise.race([node.hasWaiting, answers[k]])
        if (random(40) === 0) node.kill()
        else await node.step()
      }
      for (const [k, node] of nodes.entries()) {
        if (!node.isDead) node.open()
        else {
          dead.push(node.server)
          nodes[k] = await open()
        }
      }
      const done = await Promise.all(answers.map((answer, k) => (ended[k] ? answer : undefined)))
      for (const version of await versions()) {
        const { status, text } = await read(`&version=${version}`)
        expect([version, status]).toEqual([version, 200])
        const seen = known.get(version)
        // Rows appended within ten minutes belong to the current version.
        if (seen !== undefined && !text.startsWith(seen)) expect([version, text]).toEqual([version, seen])
        known.set(version, text)
      }
      for (const answer of done) {
        if (!answer || answer.version === undefined || answer.status >= 300) continue
        const text = known.get(answer.version)
        if (answer.content !== undefined) expect(text?.startsWith(answer.content)).toBe(true)
        for (const row of answer.rows ?? []) expect(text?.split('\n')).toContain(row)
      }
      for (const [name, possible] of drafts) {
        const { status, text } = await read(`&version=${name}`)
        const found = status === 404 ? undefined : text
        expect([name, possible.has(found)]).toEqual([name, true])
        drafts.set(name, new Set([found]))
      }
      if (random(3) === 0) await forget(known)
      expect((await verifyStore(quiet.service.store)).damage).toEqual([])
    }
    for (const { server } of nodes) await server.service.close()
  })
})
