// Limits of images, and isolation between them.
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createService } from '../../../src/service/index.ts'
import { itLong } from '../../support/property-runs.ts'
import { scatter, TestService, temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

describe('limits of images', () => {
  const folder = temporaryFolder()
  let test: TestService
  beforeAll(async () => {
    const database = `sqlite:${join(folder.path, 'test.db')}`
    const environment = { GRIDLINE_LIMIT_IMAGE_SECONDS: '3', GRIDLINE_LIMIT_IMAGE_FIGURE_BYTES: '30000000' }
    test = new TestService(await createService({ database, url: URL_OF_TESTS, environment }))
    for (const user of ['alice', 'bob']) await test.user(user)
  })
  afterAll(async () => {
    await test.service.close()
    folder.remove()
  })

  const draw = async (user: string, figure: string) => {
    const { status, json } = await test.ask(user, 'POST', '/v2/images', {
      body: `{"figure":${figure}}`,
      headers: { 'content-type': 'application/json' },
    })
    return { status, code: json?.errors?.[0]?.code as string | undefined }
  }
  /** A figure that takes minutes: every point is an SVG element. */
  const endless = (seed: number): string =>
    `{"data":[{"mode":"markers","marker":{"symbol":"star"},"y":[${`${seed},2,3,4,`.repeat(300_000)}1]}]}`

  it.each([
    ['text', '"figure"'],
    ['an array', '[1]'],
    ['null', 'null'],
    ['without NaN', '{"data":[{"y":[NaN]}]}'],
    ['nested 10,000 deep', `{"data":[{"y":${'['.repeat(10_000)}${']'.repeat(10_000)}}]}`],
    ['with data that is not a list', '{"data":{"y":[1]}}'],
  ])('an invalid figure (%s) is 400', async (_, figure) => {
    expect((await draw('alice', figure)).status).toBe(400)
  })

  it('an unknown type of trace is drawn as plotly.js does', async () => {
    expect((await draw('alice', '{"data":[{"type":"nonsense","y":[1,2]}]}')).status).toBe(200)
  })

  itLong('50 MB of figure are refused with the limit, and a million points are drawn', async () => {
    const number = '0.123456789,'
    // A fast machine draws it; a busy one may refuse it for lack of CPU time.
    const large = await draw('alice', `{"data":[{"y":[${number.repeat(4_200_000)}1]}]}`)
    expect([200, 422, 503]).toContain(large.status)
    const million = Array.from({ length: 1_000_000 }, (_, k) => k % 1000).join(',')
    const { status } = await draw('alice', `{"data":[{"type":"histogram","x":[${million}]}]}`)
    expect(status).toBe(200)
  })

  itLong('a figure that takes too long is 422; meanwhile others get their images', async () => {
    const slow = [1, 2, 3, 4].map((seed) => draw('alice', endless(seed)))
    const { file } = await test.plot('bob', scatter([1, 2]))
    const { status } = await test.ask('bob', 'GET', `/v2/files/${file.fid}/image`)
    expect(status).toBe(200)
    for (const { status } of await Promise.all(slow)) expect([422, 503]).toContain(status)
  })

  it('a plot whose column, grid or access was removed is drawn without this data', async () => {
    const { fid } = await test.grid('bob', 'lent', { y: [1, 5, 2] }, { world_readable: true })
    const { cols } = (await test.ask('bob', 'GET', `/v2/grids/${fid}/content`)).json
    const figure = { data: [{ ysrc: `${fid}:${cols.y.uid}` }], layout: {} }
    const plot = (await test.ask('alice', 'POST', '/v2/plots', { json: { figure } })).json.file
    const image = async () => (await test.ask('alice', 'GET', `/v2/files/${plot.fid}/image?format=svg`)).text
    const points = async () => (await image()).match(/class="point"/g)?.length ?? 0
    expect(await points()).toBe(3)
    await test.ask('bob', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: false } })
    expect(await points()).toBe(0)
    await test.ask('bob', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: true } })
    expect(await points()).toBe(3)
    await test.ask('bob', 'POST', `/v2/files/${fid}/trash`)
    expect(await points()).toBe(0)
  })
})
