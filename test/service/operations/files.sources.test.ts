// The sources graph.
import { expect, it } from 'vitest'
import { onBothStores, scatter, type TestService, URL_OF_TESTS } from '../../support/service.ts'

onBothStores('sources of files', (test) => {
  const ask: TestService['ask'] = (...given) => test().ask(...given)
  const relationsOf = async (user: string | undefined, path: string) => {
    const { graph } = (await ask(user, 'GET', path)).json
    return graph.edges.map(
      ({ relation, target }: { relation: string; target: string }) => `${relation} ${target}`,
    )
  }

  it('sources lists parent, children, created plots and source grids, but no unreadable files', async () => {
    const { file, grid_fid } = await test().plot('alice', scatter([1]), { world_readable: true })
    const copy = (await ask('alice', 'POST', `/v2/files/${grid_fid}/copy`)).json.new_fid
    expect(await relationsOf('alice', `/v2/files/${grid_fid}/sources`)).toEqual([
      `child ${copy}`,
      `created plots ${file.fid}`,
    ])
    expect(await relationsOf('alice', `/v2/files/${copy}/sources`)).toEqual([`parent ${grid_fid}`])
    expect(await relationsOf('alice', `/v2/plots/${file.fid}/sources`)).toEqual([`source grids ${grid_fid}`])
    await ask('alice', 'PATCH', `/v2/files/${grid_fid}`, { json: { world_readable: false } })
    expect(await relationsOf(undefined, `/v2/plots/${file.fid}/sources`)).toEqual([])
    expect(await relationsOf('bob', `/v2/plots/${file.fid}/sources`)).toEqual([])
  })

  it('sources lists the boards that show a file, for those who may read them', async () => {
    const { file, grid_fid } = await test().plot('alice', scatter([1]))
    const { fid: hidden } = await test().grid('bob', 'hidden', { a: [1] })
    const contentOf = (...items: object[]) => ({ settings: { board: { rows: [{ items }] } } })
    const made = await ask('alice', 'POST', '/v2/dashboards', {
      json: {
        filename: 'board',
        content: contentOf({ plot: file.fid }, { table: grid_fid }, { table: grid_fid }, { table: hidden }),
      },
    })
    const board = made.json.file.fid
    const boardsOf = async (user: string, fid: string) => {
      await test().service.runJobs()
      return relationsOf(user, `/v2/files/${fid}/sources?relation=boards`)
    }
    expect(await boardsOf('alice', file.fid)).toEqual([`boards ${board}`])
    expect(await boardsOf('alice', grid_fid)).toEqual([`boards ${board}`])
    // Its owner cannot read it, so the board does not show it.
    expect(await boardsOf('bob', hidden)).toEqual([])
    await ask('alice', 'PATCH', `/v2/files/${grid_fid}`, { json: { world_readable: true } })
    expect(await boardsOf('bob', grid_fid)).toEqual([])
    const copy = (await ask('alice', 'POST', `/v2/files/${board}/copy`)).json.new_fid
    expect(await boardsOf('alice', file.fid)).toEqual([`boards ${board}`, `boards ${copy}`])
    await ask('alice', 'PATCH', `/v2/dashboards/${board}`, { json: { content: contentOf({ text: 'a' }) } })
    expect(await boardsOf('alice', file.fid)).toEqual([`boards ${copy}`])
    // Boards are no references of metadata, as plots and extras are.
    const { json } = await ask('alice', 'GET', `/v2/files/${file.fid}`)
    expect(json.referencers).toEqual([])
    await ask('alice', 'POST', `/v2/files/${copy}/trash`)
    await ask('alice', 'DELETE', `/v2/files/${copy}/permanent_delete`)
    expect(await boardsOf('alice', file.fid)).toEqual([])
  })

  it('sources lists five files per relation, with pages linked by next and prev', async () => {
    const { fid } = await test().grid('alice', 'many copies', { a: [1] })
    const copies: string[] = []
    for (let k = 0; k < 12; k++)
      copies.push((await ask('alice', 'POST', `/v2/files/${fid}/copy`)).json.new_fid)
    const pages: string[][] = []
    let path: string | undefined = `/v2/files/${fid}/sources`
    let back: string | undefined
    while (path) {
      const {
        graph,
      }: { graph: { edges: { target: string }[]; nodes: Record<string, { metadata: { url: string } }> } } = (
        await ask('alice', 'GET', path)
      ).json
      pages.push(graph.edges.map(({ target }) => target).filter((target) => copies.includes(target)))
      back = graph.nodes['prev:child']?.metadata.url
      path = graph.nodes['next:child']?.metadata.url.slice(URL_OF_TESTS.length)
    }
    expect(pages).toEqual([copies.slice(0, 5), copies.slice(5, 10), copies.slice(10)])
    const { graph } = (await ask('alice', 'GET', back!.slice(URL_OF_TESTS.length))).json
    expect(
      graph.edges
        .map(({ target }: { target: string }) => target)
        .filter((target: string) => copies.includes(target)),
    ).toEqual(copies.slice(5, 10))
  })
})
