/** Readers see only kept versions, by any route and version name. */
import { expect } from 'vitest'
import { operations, routesOf } from '../../src/contract/operations/index.ts'
import { webRoutes } from '../../src/contract/web/index.ts'
import { itLong } from '../support/property-runs.ts'
import { onSqliteFirst } from '../support/service.ts'

/** Texts of versions that are not kept, which no reader may find. */
const REMOVED = ['removed-one', 'removed-two', 'removed-three']

const delay = (ms: number) => new Promise((next) => setTimeout(next, ms))

onSqliteFirst('earlier versions', (test) => {
  const ask = (...given: Parameters<ReturnType<typeof test>['ask']>) => test().ask(...given)
  const upload = async (text: string) => {
    const before = Date.now()
    const { json } = await ask('alice', 'POST', '/v2/grids/upload', {
      body: `t\n${text}\n`,
      headers: {
        'content-type': 'text/csv',
        'x-file-name': 'data.csv',
        'gridline-on-conflict': 'replace',
        'gridline-world-readable': 'true',
      },
    })
    // Gives each version a distinct time.
    await delay(3)
    return { fid: json.file.fid as string, at: [before, Date.now() - 1] }
  }

  itLong('readers see only the current version and kept versions', async () => {
    const times: number[] = []
    const put = async (text: string) => {
      const { fid, at } = await upload(text)
      times.push(...at)
      return fid
    }
    const grid = await put(REMOVED[0])
    const uid = (await ask('alice', 'GET', `/v2/grids/${grid}`)).json.cols[0].uid
    const figure = (title: string) => ({ data: [{ type: 'bar', xsrc: `${grid}:${uid}` }], layout: { title } })
    const json = { figure: figure('first'), filename: 'chart', world_readable: true, share_key_enabled: true }
    const plot = (await ask('alice', 'POST', '/v2/plots', { json })).json.file.fid as string
    const { share_key } = (await ask('alice', 'GET', `/v2/plots/${plot}`)).json
    await put('kept')
    await ask('alice', 'POST', `/v2/grids/${grid}/keep`, { json: { name: 'final' } })
    await ask('alice', 'POST', `/v2/plots/${plot}/keep`, { json: { name: 'final' } })
    await put(REMOVED[1])
    await ask('alice', 'PATCH', `/v2/plots/${plot}`, { json: { figure: figure('second') } })
    await delay(3)
    times.push(Date.now())
    await put(REMOVED[2])
    await put('present')
    const versions = [
      ...Array.from({ length: 8 }, (_, k) => String(k)),
      ...['-1', '-2', '-3', '-4', 'final', 'nothing', '9999', '1e1', ' 1'],
      ...times.flatMap((time) => [new Date(time).toISOString(), new Date(time).toISOString().slice(0, 19)]),
      new Date().toISOString().slice(0, 10),
    ]
    const paths = [
      ...Object.values(operations)
        .filter(({ method, path }) => method === 'GET' && path.includes(':fid') && !path.includes('image'))
        .flatMap((operation) => routesOf(operation).map(({ path }) => path))
        .flatMap((path) => [grid, plot].map((fid) => path.replace(':fid', fid).replace(/:\w+/, 'alice'))),
      ...Object.values(webRoutes)
        .filter(
          ({ method, path }) =>
            method === 'GET' && path.includes(':id') && !/png|svg|pdf|jpe?g|webp/.test(path),
        )
        .flatMap(({ path }) =>
          [grid, plot].map((fid) => path.replace(':user', 'alice').replace(':id', fid.split(':')[1])),
        ),
    ].filter((path) => !path.includes('events'))
    let opened = 0
    for (const path of new Set(paths))
      for (const version of versions)
        for (const [user, query] of [
          [undefined, ''],
          ['bob', '&inline_data=true'],
          [undefined, `&share_key=${share_key}&map_data=unreadable`],
        ] as const) {
          const target = `${path}?version=${encodeURIComponent(version)}&base_version=${encodeURIComponent(version)}${query}`
          const { status, text } = await ask(user, 'GET', target)
          if (status === 200) opened++
          for (const secret of REMOVED) expect(text.includes(secret), `${user} ${target}`).toBe(false)
        }
    expect(opened).toBeGreaterThan(300)
    // Its owner sees all of them.
    const seen = await ask('alice', 'GET', `/v2/grids/${grid}/content?format=csv&version=1`)
    expect(seen.text).toContain(REMOVED[0])
  })
})
