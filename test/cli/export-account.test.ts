// An account that is exported and imported is the same account, also after interruptions.
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { AccountExport } from '../../src/cli/export/account.ts'
import { ExportFolder, readSums } from '../../src/cli/export/export-folder.ts'
import { readManifest } from '../../src/cli/export/manifest.ts'
import { AccountImporter } from '../../src/cli/import/account.ts'
import { Client, type Fetch } from '../../src/client/index.ts'
import { Problem } from '../../src/contract/errors.ts'
import { createService } from '../../src/service/index.ts'
import { gridline } from '../support/cli.ts'
import { itLong, runs } from '../support/property-runs.ts'
import { TestService, temporaryFolder, URL_OF_TESTS } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(folder.remove)
let count = 0
const newPath = (name: string): string => join(folder.path, `${name}${count++}`)

/** Runs `work` with a new service that has the users alice and bob. */
async function withService<T>(work: (test: TestService) => Promise<T>): Promise<T> {
  const service = await createService({
    database: `sqlite:${newPath('db')}`,
    url: URL_OF_TESTS,
    environment: {},
  })
  try {
    const test = new TestService(service)
    for (const user of ['alice', 'bob']) await test.user(user)
    return await work(test)
  } finally {
    await service.close()
  }
}

/** Requests that are not answered yet. */
const pending = new Set<Promise<unknown>>()

/** A client of a user. After `writes` writes, nothing works any more, as after a crash. */
function clientOf(test: TestService, user: string, writes = Number.POSITIVE_INFINITY): Client {
  let left = writes
  const fetch: Fetch = async (request) => {
    if (request.method !== 'GET' && left-- <= 0) throw new Problem('interrupted', 'crashed')
    const answer = test.service.handle(request)
    const done: Promise<boolean> = answer.then(
      () => pending.delete(done),
      () => pending.delete(done),
    )
    pending.add(done)
    return answer
  }
  return new Client({ fetch, url: URL_OF_TESTS, user, apiKey: test.keys.get(user) })
}

async function exportTo(test: TestService, directory: string, user = 'alice'): Promise<string[]> {
  const notes: string[] = []
  const note = (text: string): number => notes.push(text)
  const target = ExportFolder.open(directory, 'account')
  const { failures } = await new AccountExport(clientOf(test, user), user, target, note).run()
  expect(failures).toEqual([])
  return notes
}

async function importFrom(
  test: TestService,
  directory: string,
  { user = 'alice', base = [] as string[], writes = Number.POSITIVE_INFINITY } = {},
) {
  const options = { base, username: user, isDryRun: false }
  const manifest = readManifest(directory)!
  return new AccountImporter(clientOf(test, user, writes), directory, manifest, options).run()
}

const sumsOf = (directory: string): string => readFileSync(join(directory, 'SHA256SUMS'), 'utf8')

/** Name, folder, content and columns of each file of alice, by fid. */
async function contents(test: TestService): Promise<Record<string, unknown>> {
  const { json } = await test.ask('alice', 'GET', '/v2/folders/all?page_size=500')
  const found: Record<string, unknown> = {}
  for (const { fid, filetype, filename, parent } of json.children.results) {
    const content =
      filetype === 'grid' ? (await test.ask('alice', 'GET', `/v2/grids/${fid}/content`)).text : undefined
    const types =
      filetype === 'grid'
        ? (await test.ask('alice', 'GET', `/v2/grids/${fid}`)).json.cols.map((one: object) => ({
            ...one,
            type: 'type' in one && one.type === 'empty' ? 'text' : 'type' in one && one.type,
          }))
        : undefined
    found[fid] = [filename, parent, content, types]
  }
  return found
}

const text = fc.constantFrom(
  'a',
  'b, "c"',
  '\\N',
  '',
  ' x ',
  'line\nbreak',
  '2024-01-01',
  '1.50',
  'é 😀',
  "'q'",
  '=1',
  'null',
  'TRUE',
  'nul \u0000 x',
  'cr\rlf\r\n',
  '\ufeffmark',
  '\u2028',
)
const iso = fc
  .date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((at) => at.toISOString())
/** Numbers as written, which `JSON.parse` would change. `raw` makes numbers of them. */
const exact = fc.constantFrom(
  '@1.50',
  '@12345678901234567890',
  '@1E400',
  '@-0',
  '@9007199254740993',
  '@1e3',
  '@7',
)
const raw = (json: unknown): string => JSON.stringify(json).replace(/"@([^"]+)"/g, '$1')
const kinds: fc.Arbitrary<unknown>[] = [
  exact,
  fc.oneof(exact, text),
  text,
  fc.constantFrom('1', '2', '03'),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (n === 0 ? 0 : n)),
  fc.boolean(),
  iso.map((at) => at.slice(0, 10)),
  iso.map((at) => at.slice(0, 10).replaceAll('-', '/')),
  fc.constantFrom('2024-1-5', '2023-12-1', '2024-01-05'),
  fc.constantFrom('2024-01', '2023-12'),
  iso.map((at) => at.slice(0, 16)),
  iso.map((at) => at.slice(0, 19).replace('T', ' ')),
  iso,
  fc.constantFrom('2024-01-01', '2024-01-01T10:00'),
  iso.map((at) => `${at.slice(0, 19)}+02:00`),
  iso.map((at) => `${at.slice(8, 10)}/${at.slice(5, 7)}/${at.slice(0, 4)}`),
  fc.oneof(fc.integer(), text, fc.constantFrom([1], { a: 1 })),
  fc.constant(null),
]
const values = fc.constantFrom(...kinds).chain((kind) =>
  fc.array(fc.oneof({ weight: 9, arbitrary: kind }, { weight: 1, arbitrary: fc.constant(null) }), {
    minLength: 3,
    maxLength: 8,
  }),
)
const columns = fc.uniqueArray(
  fc.tuple(
    fc.constantFrom(
      'a',
      'b.c',
      'x "y"',
      'é',
      ' z',
      '1',
      'l\nm',
      "'q'",
      '=1',
      'a,b',
      '-',
      '#',
      ' ',
      '\t',
      '\ufeffq',
      '\u0001',
      'constructor',
    ),
    values,
  ),
  {
    selector: ([name]) => name,
    minLength: 1,
    maxLength: 4,
  },
)
const pick = fc.nat(1000)
const step = fc.oneof(
  fc.record({ kind: fc.constant('folder' as const), at: pick }),
  fc.record({ kind: fc.constant('grid' as const), columns, at: pick }),
  fc.record({ kind: fc.constant('replace' as const), columns, at: pick }),
  fc.record({ kind: fc.constant('plot' as const), at: pick }),
  fc.record({ kind: fc.constant('redraw' as const), at: pick }),
  fc.record({
    kind: fc.constantFrom(
      'keep',
      'publish',
      'link',
      'share',
      'move',
      'rename',
      'trash',
      'extra',
      'board',
      'key',
    ),
    at: pick,
  }),
)

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Makes an account of random steps. Steps that are refused are left out. */
async function build(test: TestService, steps: readonly Step[]): Promise<void> {
  const files: { fid: string; kind: string }[] = []
  const one = (kind: string, at: number): string | undefined => {
    const of = files.filter((file) => kind === '' || file.kind === kind)
    return of[at % of.length]?.fid
  }
  const colsOf = (entries: [string, unknown[]][]): object => {
    const rows = Math.max(...entries.map(([, list]) => list.length))
    return Object.fromEntries(
      entries.map(([name, data]) => [name, { data: [...data, ...Array(rows - data.length).fill(null)] }]),
    )
  }
  const figureOf = async (fid: string, at: number): Promise<object> => {
    const { cols } = (await test.ask('alice', 'GET', `/v2/grids/${fid}`)).json
    return { data: [{ ysrc: `${fid}:${cols[at % cols.length].uid}` }], layout: { width: 300 + at } }
  }
  for (const [k, now] of steps.entries()) {
    const { at } = now
    const patch = (fid: string | undefined, json: object) =>
      test.ask('alice', 'PATCH', `/v2/files/${fid}`, { json })
    if (now.kind === 'folder') {
      const { status, json } = await test.ask('alice', 'POST', '/v2/folders', {
        json: { path: `F${at % 4}` },
      })
      if (status === 201) files.push({ fid: json.file.fid, kind: 'fold' })
    } else if (now.kind === 'grid') {
      const json = { data: { cols: colsOf(now.columns) }, filename: `g${k}`, metadata: { n: at } }
      const headers = { 'content-type': 'application/json' }
      const made = await test.ask('alice', 'POST', '/v2/grids', { body: raw(json), headers })
      files.push({ fid: made.json.file.fid, kind: 'grid' })
    } else if (now.kind === 'replace') {
      const fid = one('grid', at)
      if (fid === undefined) continue
      const { filename, parent } = (await test.ask('alice', 'GET', `/v2/grids/${fid}`)).json
      const list = Object.entries(colsOf(now.columns)) as [string, { data: unknown[] }][]
      const body = list[0][1].data
        .map((_, row) => raw(Object.fromEntries(list.map(([name, { data }]) => [name, data[row]]))))
        .join('\n')
      await test.ask('alice', 'POST', '/v2/grids/upload', {
        body,
        headers: {
          'content-type': 'application/x-ndjson',
          'x-file-name': encodeURIComponent(`${filename}.ndjson`),
          'gridline-parent': String(parent),
          'gridline-on-conflict': 'replace',
          'gridline-message': `change%20${at}`,
        },
      })
    } else if (now.kind === 'plot') {
      const fid = one('grid', at)
      if (fid === undefined) continue
      const json = { figure: await figureOf(fid, at), filename: `p${k}` }
      const { status, json: made } = await test.ask('alice', 'POST', '/v2/plots', { json })
      if (status === 200) files.push({ fid: made.file.fid, kind: 'plot' })
    } else if (now.kind === 'redraw') {
      const [fid, grid] = [one('plot', at), one('grid', at + 1)]
      if (fid === undefined || grid === undefined) continue
      await test.ask('alice', 'PATCH', `/v2/plots/${fid}`, { json: { figure: await figureOf(grid, at) } })
    } else if (now.kind === 'board') {
      const rows = [{ items: [{ text: `# ${at}` }, { plot: one('plot', at) ?? 'bob:1' }] }]
      const layout = { type: 'box', boxType: 'plot', fileId: one('plot', at + 1) ?? 'x' }
      const content = at % 2 ? { settings: { board: { rows, source: 'a: é\n' } } } : { layout }
      const { status, json } = await test.ask('alice', 'POST', '/v2/dashboards', {
        json: { content, filename: `b${k}` },
      })
      if (status === 201) files.push({ fid: json.file.fid, kind: 'board' })
      if (status === 201 && at % 3) await patch(json.file.fid, { share_items: true })
    } else if (now.kind === 'keep') {
      const fid = one(at % 2 ? 'grid' : 'plot', at)
      await test.ask('alice', 'POST', `/v2/files/${fid}/keep`, { json: at % 3 ? { name: `v${at}` } : {} })
    } else if (now.kind === 'publish') await patch(one('', at), { world_readable: true })
    else if (now.kind === 'link') await patch(one('', at), { share_key_enabled: true })
    else if (now.kind === 'share')
      await test.ask('alice', 'POST', `/v2/files/${one('', at)}/collaborators`, {
        json: { users: ['bob'], readonly: at % 2 === 0 },
      })
    else if (now.kind === 'move')
      await patch(one('', at), { parent: Number(one('fold', at + 1)?.split(':')[1] ?? -1) })
    else if (now.kind === 'rename') await patch(one('', at), { filename: `N ${at % 7}.csv` })
    else if (now.kind === 'trash') await test.ask('alice', 'POST', `/v2/files/${one('plot', at)}/trash`)
    else if (now.kind === 'extra' && files.length > 0) {
      const json = { filename: 'about', content: at % 2 ? { at } : `text ${at}`, referencers: [one('', at)!] }
      await test.ask('alice', 'POST', '/v2/extras', { json })
    }
  }
}

describe('an exported account', () => {
  it('imported again, is exported with equal bytes, and has equal contents', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), pick, async (steps, crash) => {
        const [first, second] = [newPath('export'), newPath('export')]
        await withService(async (test) => {
          await build(test, steps)
          await exportTo(test, first)
          const before = await contents(test)
          await withService(async (other) => {
            // Cut at any write, then continued.
            await importFrom(other, first, { writes: crash % 30 }).catch(() => {})
            // Of a process that has ended, no request goes on.
            await Promise.all(pending)
            expect((await importFrom(other, first)).failures).toEqual([])
            expect(await contents(other)).toEqual(before)
            const again = await importFrom(other, first)
            expect(again.items.every(({ action }) => action === 'unchanged')).toBe(true)
            await exportTo(other, second)
          })
        })
        expect(readFileSync(join(second, 'manifest.json'), 'utf8')).toBe(
          readFileSync(join(first, 'manifest.json'), 'utf8'),
        )
        expect(sumsOf(second)).toBe(sumsOf(first))
      }),
      { numRuns: runs(4, 300), seed: runs(7, Date.now()), interruptAfterTimeLimit: 100_000 },
    )
  })

  it('with grids without rows is complete after any cut', async () => {
    await withService(async (test) => {
      for (const name of ['z1', 'z2']) await test.grid('alice', name, { ' sp': [], b: [] })
      const first = newPath('export')
      await exportTo(test, first)
      const before = await contents(test)
      for (let writes = 0; writes < 12; writes++)
        await withService(async (other) => {
          await importFrom(other, first, { writes }).catch(() => {})
          await Promise.all(pending)
          expect((await importFrom(other, first)).failures).toEqual([])
          expect(await contents(other)).toEqual(before)
        })
    })
  })

  itLong('by the command line: written once, continued, cleaned, checked', async () => {
    const home = newPath('home')
    const target = newPath('export')
    const run = (...args: string[]) => gridline(args, { home })
    const data = join(folder.path, 'sales.csv')
    writeFileSync(data, 'id,price\n1,1.10\n2,2.50\n')
    for (const name of ['sales', 'Sales', 'old'])
      await run('upload', data, '--name', name, '--folder', 'Reports')
    const first = await run('export', 'account', target, '--json')
    expect([first.code, first.stderr, JSON.parse(first.stdout)]).toEqual([
      0,
      '',
      { directory: target, files: 4, written: 4, unchanged: 0, removed: 0 },
    ])
    // Names that differ in case only are different files on any system.
    expect(readdirSync(join(target, 'files/Reports')).sort()).toEqual([
      'Sales (2).csv',
      'old.csv',
      'sales.csv',
    ])
    expect(readFileSync(join(target, 'files/Reports/sales.csv'), 'utf8')).toBe('id,price\n1,1.10\n2,2.50\n')
    await run('trash', 'Reports/old')
    writeFileSync(join(target, 'mine.txt'), 'x')
    const second = await run('export', 'account', target, '--json')
    expect(JSON.parse(second.stdout)).toMatchObject({ files: 3, written: 1, unchanged: 2, removed: 1 })
    expect(existsSync(join(target, 'files/Reports/old.csv'))).toBe(false)
    const verified = await run('export', 'verify', target)
    expect([verified.code, verified.stdout]).toEqual([0, `${target}\taccount\t3\tunchanged\n`])
    writeFileSync(join(target, 'files/Reports/sales.csv'), 'id,price\n1,9\n')
    const changed = await run('export', 'verify', target)
    expect([changed.code, changed.stderr]).toEqual([
      7,
      expect.stringContaining('changed: files/Reports/sales.csv'),
    ])
    // An import reads nothing that was changed.
    const refused = await gridline(['import', target], { home: newPath('home') })
    expect([refused.code, refused.stderr]).toEqual([
      8,
      expect.stringContaining('sales.csv was changed since the export'),
    ])
    expect((await run('export', 'account', target)).code).toBe(0)
    expect((await run('export', 'verify', target)).code).toBe(0)
    expect((await run('export', 'site', 'Reports', target, '--include-private', '--yes')).stderr).toContain(
      'contains an exported account',
    )
  })

  it('is written only into an empty directory, and through no link', async () => {
    await withService(async (test) => {
      await test.ask('alice', 'POST', '/v2/folders', { json: { path: 'a' } })
      await test.grid('alice', 'b', { x: [1, 2], y: [3, 4] }, { parent_path: 'a' })
      const [full, linked] = [newPath('dir'), newPath('dir')]
      mkdirSync(full)
      writeFileSync(join(full, 'mine.txt'), 'x')
      await expect(exportTo(test, full)).rejects.toThrow('is not empty, and contains no export of gridline')
      mkdirSync(linked)
      const outside = newPath('outside')
      mkdirSync(outside)
      ExportFolder.open(linked, 'account')
      symlinkSync(outside, join(linked, 'files'))
      const target = ExportFolder.open(linked, 'account')
      const { failures } = await new AccountExport(clientOf(test, 'alice'), 'alice', target, () => {}).run()
      expect(failures.map(({ problem }) => problem.message)).toEqual([
        expect.stringContaining('is a symbolic link'),
      ])
      expect([readdirSync(outside), readSums(linked)?.isComplete]).toEqual([[], false])
    })
  })

  it('of another user, and into a folder: new numbers, references follow, unknown people are noted', async () => {
    await withService(async (test) => {
      const { fid } = await test.grid('alice', 'data', { x: [1, 2], y: [3, 4] })
      const { cols } = (await test.ask('alice', 'GET', `/v2/grids/${fid}`)).json
      const json = { figure: { data: [{ ysrc: `${fid}:${cols[1].uid}` }] }, filename: 'chart' }
      await test.ask('alice', 'POST', '/v2/plots', { json })
      await test.ask('alice', 'POST', `/v2/files/${fid}/collaborators`, { json: { users: ['bob'] } })
      const target = newPath('export')
      await exportTo(test, target)
      const file = join(target, 'manifest.json')
      writeFileSync(file, readFileSync(file, 'utf8').replace('"user":"bob"', '"user":"nobody"'))
      await test.grid('bob', 'own', { x: [1] })
      const { items, failures } = await importFrom(test, target, { user: 'bob', base: ['From', 'alice'] })
      expect(failures).toEqual([])
      expect(items.map(({ path, was, note }) => [path, was, note])).toEqual([
        ['From/alice/data', 'alice:0', expect.stringContaining('not shared with nobody')],
        ['From/alice/chart', 'alice:1', expect.stringContaining('its grids have other numbers')],
      ])
      const figure = (await test.ask('bob', 'GET', `/v2/plots/${items[1].fid}/content`)).text
      expect(figure).toContain(`"ysrc":"${items[0].fid}:${cols[1].uid}"`)
      expect(items[1].fid).toBe('bob:1')
    })
  })

  it('with a damaged or hostile manifest is refused', async () => {
    await withService(async (test) => {
      await test.grid('alice', 'b', { x: [1, 2], y: [3, 4] })
      const target = newPath('export')
      await exportTo(test, target)
      const file = join(target, 'manifest.json')
      const manifest = readFileSync(file, 'utf8')
      const check = (from: string | RegExp, to: string): void => {
        const changed = manifest.replace(from, to)
        expect(changed).not.toBe(manifest)
        writeFileSync(file, changed)
        expect(() => readManifest(target)).toThrow()
      }
      check('"path":"files/b.csv"', '"path":"../b.csv"')
      check('"path":"files/b.csv"', '"path":"/etc/passwd"')
      check('"path":"files/b.csv"', '"path":"files\\\\..\\\\b.csv"')
      check('"version":1', '"version":2')
      check('"id":0', '"id":-1')
      check('"type":"grid"', '"type":"plot"')
      check('"columns"', '"column"')
      check('"contents":[', '"contents":[{},')
      check(/\]\}\n$/, '')
      check('"username":"alice"', '"username":7')
      // A folder inside itself.
      writeFileSync(
        file,
        manifest
          .replace(
            '"files":[',
            '"files":[{"id":-0,"type":"folder","name":"x","folder":0,"collaborators":[],"metadata":{},"contents":[]},',
          )
          .replace('"id":0,"type":"grid"', '"id":1,"type":"grid"'),
      )
      await expect(importFrom(test, target, { user: 'bob' })).rejects.toThrow('there is no folder 0')
    })
  })
})
