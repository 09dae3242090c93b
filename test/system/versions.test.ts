// Random changes of versions against a model, and their expiry.
import { expect, it, vi } from 'vitest'
import { parseFid } from '../../src/contract/fid.ts'
import { defaultLimits } from '../../src/contract/limits.ts'
import { flushTail } from '../../src/service/grids/change/flush.ts'
import { expireVersions, selectExpiredVersions } from '../../src/service/store/aggregates/retention.ts'
import { verifyStore } from '../../src/service/store/upkeep/verify.ts'
import { runs } from '../support/property-runs.ts'
import { onBothStores } from '../support/service.ts'

const DAY = 24 * 3600 * 1000

/** Seeded pseudo-random numbers. */
function randomly(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

onBothStores('versions as a model has them', (test) => {
  it('versions keep every byte through writes, reverts, flushes, expiry and sweeps', async () => {
    const random = randomly(7)
    let now = Date.UTC(2026, 0, 1)
    vi.useFakeTimers({ toFake: ['Date'], now })
    // The daily sweep, which also removes versions, is one of the steps.
    test().service.store.onJob(() => {})
    try {
      const upload = (csv: string, conflict: string) =>
        test().ask('alice', 'POST', '/v2/grids/upload', {
          body: csv,
          headers: { 'content-type': 'text/csv', 'x-file-name': 'g.csv', 'gridline-on-conflict': conflict },
        })
      const table = (): string => {
        const rows = random(12) === 0 ? 30_000 + random(60_000) : random(30)
        const names = ['a', 'b', 'c', 'd'].slice(0, 2 + random(3))
        const lines = Array.from({ length: rows }, (_, k) =>
          names.map((_, c) => (c === 1 ? `t${(k * 7919) % 1000}` : k * (c + 1) + random(3))).join(','),
        )
        return `${names.join(',')}\n${lines.join('\n')}\n`
      }
      const { json } = await upload(table(), 'fail')
      const { fid } = json.file
      const id = parseFid(fid)!
      await test().ask('alice', 'POST', `/v2/files/${fid}/collaborators`, {
        json: { users: ['bob'], permission: 'write' },
      })
      const content = async (version?: number): Promise<string> => {
        const query = version === undefined ? '' : `?version=${version}`
        const got = await test().ask('alice', 'GET', `/v2/grids/${fid}/content${query}`)
        expect(got.status, `version ${version}: ${got.text.slice(0, 200)}`).toBe(200)
        return got.text
      }
      const known = new Map<number, string>([[1, await content()]])
      const kept = new Set<number>()
      const present = async (): Promise<number> =>
        (await test().ask('alice', 'GET', `/v2/grids/${fid}`)).json.version
      const versions = async (): Promise<number[]> => {
        const { json: list } = await test().ask('alice', 'GET', `/v2/grids/${fid}/versions?page_size=1000`)
        return list.versions.map(({ version }: { version: number }) => version)
      }
      const cols = async () => (await test().ask('alice', 'GET', `/v2/grids/${fid}`)).json.cols
      const forgetExpired = async (): Promise<void> => {
        const left = new Set(await versions())
        for (const one of kept) expect(left).toContain(one)
        for (const one of known.keys()) if (!left.has(one)) known.delete(one)
      }
      const steps: (() => Promise<unknown>)[] = [
        () => upload(table(), 'replace'),
        async () => {
          const own = await cols()
          const rows = Array.from({ length: 1 + random(40) }, (_, k) =>
            own.map((_: unknown, c: number) => (c === 1 ? `r${k}` : random(99))),
          )
          return test().ask(random(3) ? 'alice' : 'bob', 'POST', `/v2/grids/${fid}/row`, { json: { rows } })
        },
        async () => {
          const own = await cols()
          const rows = Array.from({ length: 6000 }, (_, k) =>
            own.map((_: unknown, c: number) => (c === 1 ? `r${k}` : k)),
          )
          return test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows } })
        },
        () => flushTail(test().service.store, id),
        async () => {
          const name = `n${random(1000)}`
          const data = Array.from({ length: random(40) }, () => random(9))
          return test().ask('alice', 'POST', `/v2/grids/${fid}/col`, {
            json: { cols: JSON.stringify([{ name, data }]) },
          })
        },
        async () => {
          const own = await cols()
          const column = own[random(own.length)]
          const change = random(2)
            ? { name: `m${random(1000)}` }
            : { data: Array.from({ length: random(30) }, () => random(9)), order: random(own.length) }
          return test().ask('alice', 'PUT', `/v2/grids/${fid}/col?uid=${column.uid}`, {
            json: { cols: JSON.stringify([change]) },
          })
        },
        async () => {
          const own = await cols()
          if (own.length < 3) return
          return test().ask('alice', 'DELETE', `/v2/grids/${fid}/col?uid=${own[random(own.length)].uid}`)
        },
        async () => {
          const all = await versions()
          const to = all[random(all.length)]
          const done = await test().ask('alice', 'POST', `/v2/grids/${fid}/revert`, {
            json: { version: String(to) },
          })
          expect(done.status, done.text).toBe(200)
          expect(await content()).toBe(known.get(to))
        },
        async () => {
          const all = (await versions()).slice(1)
          if (all.length === 0) return
          const gone = all[random(all.length)]
          expect(
            (await test().ask('alice', 'DELETE', `/v2/grids/${fid}/versions?version=${gone}`)).status,
          ).toBe(200)
          known.delete(gone)
          kept.delete(gone)
        },
        async () => {
          const all = await versions()
          const one = all[random(all.length)]
          expect(
            (await test().ask('alice', 'POST', `/v2/grids/${fid}/keep`, { json: { version: String(one) } }))
              .status,
          ).toBe(200)
          kept.add(one)
        },
        async () => {
          await expireVersions(test().service.store.engine, {
            ...defaultLimits,
            version_days: 20 + random(20),
          })
          await forgetExpired()
        },
        async () => {
          await test().service.store.sweep(0)
          await forgetExpired()
        },
      ]
      for (let k = 0; k < runs(15, 500); k++) {
        now += random(4) === 0 ? random(4) * DAY : random(8) * 60_000
        vi.setSystemTime(now)
        await steps[random(steps.length)]()
        known.set(await present(), await content())
        expect([...(await versions())].sort()).toEqual([...known.keys()].sort())
        const all = [...known.keys()]
        const some = k % 20 === 19 ? all : [all[random(all.length)]]
        for (const version of some) expect(await content(version)).toBe(known.get(version))
      }
      await flushTail(test().service.store, id)
      for (const [version, text] of known) expect(await content(version)).toBe(text)
      expect((await verifyStore(test().service.store)).damage).toEqual([])
    } finally {
      vi.useRealTimers()
    }
  })
})

it('versions expire: all are kept for some days, then one per day; current and kept versions stay', () => {
  const now = Date.UTC(2026, 5, 30)
  const rules = { version_days: 30, versions: 5, daily_version_days: 60 }
  const at = (version: number, days: number, kept_at: number | null = null) => ({
    version,
    made_at: now - days * DAY,
    kept_at,
  })
  const rows = [
    at(12, 0),
    at(11, 1.1),
    at(10, 1.2),
    at(9, 1.3),
    at(8, 1.4),
    at(7, 1.5),
    at(6, 1.6),
    at(5, 40.1),
    at(4, 40.2),
    at(3, 61.5),
    at(2, 70, now),
    at(1, 400),
  ]
  expect(selectExpiredVersions(rows, 12, now, rules)).toEqual([7, 6, 4, 3, 1])
})
