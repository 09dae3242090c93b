// Markers in private fields never reach other users.
import { expect, it } from 'vitest'
import { operations, routesOf } from '../../src/contract/operations/index.ts'
import { onSqliteFirst } from '../support/service.ts'

/** A marker that no response to other users may contain. */
const MARK = 'canary-7f3a'

onSqliteFirst('unreadable files are not disclosed', (test) => {
  it('markers in private fields never appear in any GET response for other users', async () => {
    const marked = (name: string) => `${MARK} ${name}`
    const ask = (method: string, path: string, json?: unknown) => test().ask('alice', method, path, { json })
    const folder = (await ask('POST', '/v2/folders', { path: marked('folder') })).json.file
    const parent = Number(folder.fid.split(':')[1])
    const grid = await test().grid(
      'alice',
      marked('grid'),
      { [marked('column')]: [marked('value')], open: [1] },
      {
        parent,
        metadata: { note: marked('metadata') },
        source_url: `http://example.com/${MARK}`,
        share_key_enabled: true,
      },
    )
    const figure = (src: string) => ({ data: [{ type: 'scatter', name: 'n', ysrc: src }] })
    const hidden = (
      await ask('POST', '/v2/plots', {
        figure: {
          ...figure(`${grid.fid}:${grid.cols[0].uid}`),
          layout: { title: { text: marked('title') } },
        },
        filename: marked('plot'),
        parent,
      })
    ).json.file
    // Public files next to private ones: in the private folder, created from the grid, copied from it.
    const open = (
      await ask('POST', '/v2/plots', {
        figure: figure(`${grid.fid}:${grid.cols[1].uid}`),
        filename: 'open',
        parent,
        world_readable: true,
      })
    ).json.file
    const copied = (await ask('POST', `/v2/grids/${grid.fid}/copy`, { make_public: false })).json.new_fid
    const child = await test().grid(
      'alice',
      'child',
      { a: [1] },
      { source_fid: grid.fid, world_readable: true, parent },
    )
    const extra = (
      await ask('POST', '/v2/extras', {
        filename: marked('extra'),
        content: marked('content'),
        referencers: [open.fid],
      })
    ).json.file
    const trashed = await test().grid('alice', marked('trashed'), { a: [1] }, { world_readable: true })
    await ask('POST', `/v2/grids/${trashed.fid}/trash`)
    await ask('POST', `/v2/files/${grid.fid}/collaborators`, { users: [`${MARK}@example.org`] })
    await ask('POST', `/v2/files/${open.fid}/collaborators`, { users: [`${MARK}@example.org`] })
    const key = (await ask('GET', `/v2/grids/${grid.fid}`)).json.share_key

    const fids = [folder, grid, hidden, open, child, extra, trashed]
      .map(({ fid }) => fid)
      .concat(copied, 'alice:-1')
    const queries = [
      '',
      'inline_data=true',
      'map_data=unreadable',
      'format=api',
      'format=csv',
      'share_key=wrong',
      'user=alice&path=open',
      'user=alice',
      'relation=parent',
      'user=alice&page=1&page_size=1000',
      `user=alice&path=${encodeURIComponent(marked('folder'))}/open`,
      `user=alice&path=open&parent=${parent}`,
    ]
    let asked = 0
    let opened = 0
    for (const user of ['bob', undefined]) {
      for (const operation of Object.values(operations)) {
        if (operation.method !== 'GET' || operation.path === '/metrics') continue
        for (const { path } of routesOf(operation)) {
          for (const fid of path.includes(':fid') ? fids : ['']) {
            for (const query of queries) {
              const target = `${path.replace(':fid', fid).replace(/:\w+/, 'alice')}?${query}`
              const { text, status, headers } = await test().ask(user, 'GET', target)
              asked++
              if (status === 200) opened++
              // The requested path is the caller's own text.
              const said = text
                .replaceAll(encodeURIComponent(marked('folder')), '')
                .replaceAll(marked('folder').replace(' ', '+'), '')
              expect(
                said.includes(MARK) || said.includes(key),
                `${user} ${target}: ${said.slice(0, 300)}`,
              ).toBe(false)
              expect([...headers.values()].join().includes(MARK), target).toBe(false)
            }
          }
        }
      }
    }
    expect(asked).toBeGreaterThan(1000)
    expect(opened).toBeGreaterThan(100)
    for (const fid of [copied, hidden.fid, grid.fid]) {
      const { json } = await test().ask('bob', 'GET', `/v2/files/${child.fid}`)
      expect(JSON.stringify(json)).not.toContain(`"${fid}"`)
    }
  })
})
