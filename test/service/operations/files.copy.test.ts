// Copies of files.
import { expect, it } from 'vitest'
import { onBothStores, scatter, type TestService } from '../../support/service.ts'

onBothStores('copies of files', (test) => {
  const ask: TestService['ask'] = (...given) => test().ask(...given)

  it('a copied plot refers to the same grids, or to copies of them', async () => {
    const { file, grid_fid } = await test().plot('alice', scatter([1]), { filename: 'original' })
    const linked = (await ask('alice', 'POST', `/v2/files/${file.fid}/copy`)).json
    expect(linked.files.map(({ filename }: { filename: string }) => filename)).toEqual(['original (1)'])
    expect(linked.files[0].references).toEqual([grid_fid])
    const deep = (await ask('alice', 'POST', `/v2/files/${file.fid}/copy`, { json: { deep_copy: true } }))
      .json
    expect(deep.files).toHaveLength(2)
    expect(deep.files[0].references).toEqual([deep.files[1].fid])
    await ask('alice', 'POST', `/v2/grids/${grid_fid}/row`, { json: { rows: [[7]] } })
    const y = async (fid: string) =>
      (await ask('alice', 'GET', `/v2/plots/${fid}/content?inline_data=true`)).json.data[0].y
    expect([await y(linked.new_fid), await y(deep.new_fid)]).toEqual([[1, 7], [1]])
  })

  it('the shown columns of an unreadable grid are copied, with a warning', async () => {
    const grid = await test().grid('alice', 'secret name', { shown: [1, 2], hidden: ['x', 'y', 'z'] })
    const figure = { data: [{ type: 'scatter', ysrc: `${grid.fid}:${grid.cols[0].uid}` }] }
    const { file } = await test().plot('alice', figure, { filename: 'open', world_readable: true })
    const { json, text } = await ask('bob', 'POST', `/v2/files/${file.fid}/copy`)
    expect(json.warnings).toEqual([expect.stringContaining('cannot read')])
    expect(text).not.toContain('secret name')
    const copied = (await ask('bob', 'GET', `/v2/grids/${json.files[1].fid}`)).json
    expect(copied).toMatchObject({ row_count: 2, source_fid: null })
    expect(copied.cols.map(({ name }: { name: string }) => name)).toEqual(['shown'])
  })

  it('deep_copy has no effect on grids; make_public makes the copy public', async () => {
    const { fid } = await test().grid('alice', 'to copy', { a: [1.5, null] })
    await ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [['tail']] } })
    const { json } = await ask('alice', 'POST', `/v2/grids/${fid}/copy`, {
      json: { deep_copy: true, make_public: true },
    })
    expect([json.files.length, json.files[0].world_readable, json.files[0].source_fid]).toEqual([
      1,
      true,
      fid,
    ])
    const content = (await ask(undefined, 'GET', `/v2/grids/${json.new_fid}/content`)).json
    expect(content.cols.a.data).toEqual([1.5, null, 'tail'])
  })

  it('a copy warns about unavailable data', async () => {
    const grid = await test().grid('alice', 'was public', { a: [1], b: [2] }, { world_readable: true })
    const [a, b] = grid.cols
    const figure = { data: [{ xsrc: `${grid.fid}:${a.uid}`, ysrc: `${grid.fid}:${b.uid}` }] }
    const plot = (await ask('alice', 'POST', '/v2/plots', { json: { figure, world_readable: true } })).json
      .file
    const copy = (await ask('bob', 'POST', `/v2/files/${plot.fid}/copy`)).json
    expect(copy.warnings).toEqual([])
    await ask('alice', 'DELETE', `/v2/grids/${grid.fid}/col?uid=${b.uid}`)
    const deep = (await ask('alice', 'POST', `/v2/files/${plot.fid}/copy`, { json: { deep_copy: true } }))
      .json
    expect(deep.warnings).toEqual([expect.stringContaining('missing')])
    await ask('alice', 'PATCH', `/v2/grids/${grid.fid}`, { json: { world_readable: false } })
    const again = (await ask('bob', 'POST', `/v2/files/${copy.new_fid}/copy`)).json
    expect([again.files.length, again.warnings]).toEqual([1, [expect.stringContaining('not readable')]])
  })
})
