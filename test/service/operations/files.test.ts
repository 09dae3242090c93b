// Updates, lookup, paths and stars of files.
import { describe, expect, it } from 'vitest'
import { idlocal, onBothStores, type TestService } from '../../support/service.ts'

onBothStores('files', (test) => {
  const ask: TestService['ask'] = (...given) => test().ask(...given)
  const status: TestService['status'] = (...given) => test().status(...given)
  const folder = async (path: string) =>
    (await ask('alice', 'POST', '/v2/folders', { json: { path } })).json.file

  describe('updates', () => {
    it('PUT and PATCH keep other fields; warnings name unknown and read-only fields', async () => {
      const { fid } = await test().grid('alice', 'put', { a: [1] }, { world_readable: true })
      const whole = (await ask('alice', 'GET', `/v2/files/${fid}`)).json
      const { json } = await ask('alice', 'PUT', `/v2/files/${fid}`, {
        json: { ...whole, filename: 'put 2', nonsense: 1 },
      })
      expect(json).toMatchObject({ filename: 'put 2', world_readable: true, fid })
      expect(json.warnings).toContain('views cannot be changed here and was ignored')
      expect(json.warnings).toContain('nonsense is not a known field here and was ignored')
      const wrong = await ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: 'maybe' } })
      expect([wrong.status, wrong.json.errors[0].field]).toEqual([400, 'world_readable'])
    })

    it('updates accept metadata as an object or as text, and form-encoded bodies with True and False', async () => {
      const { fid } = await test().grid('alice', 'forms', { a: [1] })
      for (const metadata of [{ k: 1 }, '{"k": 1}'])
        expect((await ask('alice', 'PUT', `/v2/grids/${fid}`, { json: { metadata } })).json.metadata).toEqual(
          { k: 1 },
        )
      const { json } = await ask('alice', 'PATCH', `/v2/files/${fid}`, {
        body: 'world_readable=True&share_key_enabled=True&filename=formed',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      expect(json).toMatchObject({ world_readable: true, share_key_enabled: true, filename: 'formed' })
      // Nothing is replaced by U+FFFD, and a lone % stands for itself.
      const rename = (body: string | Uint8Array) =>
        ask('alice', 'PATCH', `/v2/files/${fid}`, {
          body,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        })
      for (const body of [
        'filename=b%E9b',
        'filename=x%E2%82%%ACy',
        Buffer.from('filename=caf\u00e9', 'latin1'),
      ])
        expect((await rename(body)).json.errors[0].message).toBe('the body is not UTF-8')
      for (const [body, filename] of [
        ['filename=caf%C3%A9%20100%25', 'café 100%'],
        ['filename=café+100%', 'café 100%'],
        ['filename=%EF%BF%BD', '\ufffd'],
      ])
        expect((await rename(body)).json.filename).toBe(filename)
    })

    it('updates refuse moving a folder into itself, and names that are invalid in a path', async () => {
      const deep = await folder('self/below')
      const self = (await ask('alice', 'GET', '/v2/folders/lookup?path=self')).json
      for (const parent of [idlocal(self.fid), idlocal(deep.fid)])
        expect(await status('alice', 'PATCH', `/v2/files/${self.fid}`, { json: { parent } })).toBe(400)
      for (const filename of ['a/b', 'a\u0007b', 'x'.repeat(256), '', '..'])
        expect(await status('alice', 'PATCH', `/v2/files/${self.fid}`, { json: { filename } })).toBe(400)
    })
  })

  describe('lookup', () => {
    it('lookup finds files by path, parent and user; an empty path is 400, other filetypes are 404', async () => {
      const { fid } = await test().grid(
        'alice',
        'sought',
        { a: [1] },
        { parent_path: 'deep/down', world_readable: true },
      )
      expect((await test().ask('alice', 'GET', '/v2/files/lookup?path=/deep//down/sought')).json.fid).toBe(
        fid,
      )
      expect(
        (await test().ask('bob', 'GET', '/v2/files/lookup?path=deep%2Fdown%2Fsought&user=alice')).json.fid,
      ).toBe(fid)
      const down = (await test().ask('alice', 'GET', '/v2/folders/lookup?path=deep/down')).json
      expect(
        (await test().ask('alice', 'GET', `/v2/grids/lookup?path=sought&parent=${down.fid.split(':')[1]}`))
          .json.fid,
      ).toBe(fid)
      expect(
        (await test().ask('alice', 'GET', '/v2/files/lookup?path=deep/down/sought&exists=true')).json,
      ).toEqual({ exists: true })
      expect((await test().ask('alice', 'GET', '/v2/files/lookup?path=')).status).toBe(400)
      expect((await test().ask('alice', 'GET', '/v2/files/lookup')).status).toBe(400)
      expect((await test().ask('alice', 'GET', '/v2/grids/lookup?path=deep')).status).toBe(404)
      expect((await test().ask('alice', 'GET', `/v2/folders/${fid}`)).status).toBe(404)
    })

    it('lookup with exists returns only whether the file exists, for all filetypes', async () => {
      await test().grid('alice', 'exists', { a: [1] })
      const lookup = (kind: string, path: string) => ask('alice', 'GET', `/v2/${kind}/lookup?${path}`)
      for (const kind of ['files', 'grids'])
        expect((await lookup(kind, 'path=exists&exists=true')).json).toEqual({ exists: true })
      expect((await lookup('grids', 'path=nowhere&exists=true')).status).toBe(404)
    })
  })

  describe('path and image', () => {
    it('path begins with a slash, hides private folders from others, and is 400 for an attachment', async () => {
      const dir = await folder('way/down')
      const grid = await test().grid(
        'alice',
        'there',
        { a: [1] },
        { parent: idlocal(dir.fid), world_readable: true },
      )
      expect((await ask('alice', 'GET', `/v2/files/${grid.fid}/path`)).json).toEqual({
        path: '/way/down/there',
      })
      expect((await ask('bob', 'GET', `/v2/files/${grid.fid}/path`)).json).toEqual({ path: '/there' })
      expect((await ask('bob', 'GET', `/v2/files/${grid.fid}`)).json.parent).toBe(-1)
      const extra = (
        await ask('alice', 'POST', '/v2/extras', {
          json: { filename: 'notes', content: 'text', referencers: [grid.fid] },
        })
      ).json.file
      expect(await status('alice', 'GET', `/v2/files/${extra.fid}/path`)).toBe(400)
    })
  })

  describe('stars', () => {
    it('removing a star is idempotent; starred and shared lists omit unreadable files', async () => {
      const grid = await test().grid('alice', 'starry', { a: [1] })
      await ask('alice', 'POST', `/v2/files/${grid.fid}/collaborators`, {
        json: { users: ['bob'], readonly: true },
      })
      const names = async (list: string) =>
        (await ask('bob', 'GET', `/v2/folders/${list}`)).json.children.results.map(
          ({ fid }: { fid: string }) => fid,
        )
      expect((await ask('bob', 'POST', `/v2/files/${grid.fid}/star`)).json.stars).toEqual({
        results: [{ username: 'bob' }],
        count: 1,
      })
      expect(await names('starred')).toContain(grid.fid)
      expect(await names('shared')).toContain(grid.fid)
      await ask('alice', 'DELETE', `/v2/files/${grid.fid}/collaborators`, { json: { users: ['bob'] } })
      expect(await names('starred')).not.toContain(grid.fid)
      expect(await names('shared')).not.toContain(grid.fid)
      expect(await status('bob', 'DELETE', `/v2/files/${grid.fid}/star`)).toBe(204)
      expect(await status('alice', 'DELETE', `/v2/files/${grid.fid}/star`)).toBe(204)
    })

    it('stars name up to a hundred users and count all', async () => {
      const { fid } = await test().grid('alice', 'popular', { a: [1] }, { world_readable: true })
      const [owner, idlocal] = fid.split(':')
      const starred_at = Date.now()
      const rows = Array.from({ length: 120 }, (_, k) => ({
        owner,
        idlocal: Number(idlocal),
        username: `fan${k}`,
        starred_at,
      }))
      await test().service.store.engine.write([], async (db) => {
        await db.insertInto('stars').values(rows).execute()
        await db.updateTable('files').set({ starred: 1 }).where('owner', '=', owner).execute()
      })
      const { stars } = (await ask(undefined, 'GET', `/v2/files/${fid}`)).json
      expect([stars.count, stars.results.length]).toEqual([120, 100])
    })
  })
})
