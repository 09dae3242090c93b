// The default theme of a server.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createService } from '../../../src/service/index.ts'
import { TestService, temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

const folder = temporaryFolder()
const template = { layout: { colorway: ['#123456'] } }
let test: TestService
beforeAll(async () => {
  const database = `sqlite:${folder.path}/theme.db`
  const theme = { name: 'house', about: 'house.json', template }
  test = new TestService(await createService({ database, url: URL_OF_TESTS, theme }))
  await test.user('alice')
})
afterAll(async () => {
  await test.service.close()
  folder.remove()
})

const layoutOf = async (layout: object, fields: object = {}) => {
  const data = [{ type: 'bar', y: [1] }]
  const { file } = await test.plot('alice', { data, layout }, fields)
  return (await test.ask('alice', 'GET', `/v2/plots/${file.fid}/content`)).json.layout
}

it('new charts from columns get the default theme, and keep the rest of their layout', async () => {
  const layout = { title: { text: 'A' }, meta: { theme: 'gridline', title: 'A' }, width: 500 }
  expect(await layoutOf(layout)).toEqual({ ...layout, meta: { theme: 'house', title: 'A' }, template })
})

it('charts with a chosen theme, and foreign figures, do not get the default theme', async () => {
  for (const layout of [
    { title: { text: 'B' }, meta: { theme: 'gridline' }, template: {} },
    { title: { text: 'C' }, meta: { theme: 'newsroom' }, template: { layout: {} } },
    { title: { text: 'D' } },
    { title: { text: 'E' }, meta: 'gridline' },
  ])
    expect(await layoutOf(layout)).toEqual(layout)
})
