// The audit log.
import { expect, it } from 'vitest'
import { createKey, revokeKeys, setDisabled } from '../../../src/service/admin.ts'
import { onBothStores, scatter } from '../../support/service.ts'

onBothStores('the audit log', (test) => {
  const events = async (which: object = {}) =>
    (await test().service.store.read(({ audit }) => audit.listEvents(which, undefined, 1000)))
      .reverse()
      .map(({ event, actor, owner, fid, details }) => ({ event, actor, owner, fid, ...JSON.parse(details) }))

  it('the audit log records sharing, publishing and deleting, in the transaction of the change', async () => {
    const { fid } = await test().grid('alice', 'secret', { n: [1] })
    const ask = (method: string, path: string, json?: unknown) => test().ask('alice', method, path, { json })
    await ask('POST', `/v2/files/${fid}/collaborators`, { users: ['bob'], permission: 'write' })
    await ask('PATCH', `/v2/files/${fid}`, { world_readable: true })
    await ask('PATCH', `/v2/files/${fid}`, { filename: 'renamed' })
    await ask('PATCH', `/v2/files/${fid}`, { world_readable: false })
    await test().ask('alice', 'DELETE', `/v2/files/${fid}/collaborators`, { json: { users: ['bob'] } })
    await ask('POST', `/v2/files/${fid}/trash`)
    await ask('DELETE', `/v2/files/${fid}/permanent_delete`)
    const by = { actor: 'alice', owner: 'alice', fid }
    const found = await events({ fid })
    expect(found.map(({ event }) => event)).toEqual([
      'file.share',
      'file.publish',
      'file.unpublish',
      ...(found.some(({ event }) => event === 'file.unshare') ? ['file.unshare'] : []),
      'file.trash',
      'file.delete',
    ])
    expect(found[0]).toEqual({ event: 'file.share', ...by, user: 'bob', permission: 'write' })
    expect(found.at(-1)).toMatchObject({ event: 'file.delete', ...by, filename: 'renamed' })
  })

  it('the audit log records changes of keys and users, with null for operators', async () => {
    const { store } = test().service
    const { hash } = await createKey(store, 'bob', { name: 'ci' })
    await revokeKeys(store, 'bob', [hash.slice(0, 12)])
    await setDisabled(store, 'bob', true)
    await setDisabled(store, 'bob', false)
    const found = (await events({ owner: 'bob' })).slice(-4)
    expect(found).toMatchObject([
      { event: 'key.create', actor: null, key: hash.slice(0, 12), name: 'ci' },
      { event: 'key.revoke', actor: null, key: hash.slice(0, 12) },
      { event: 'user.disable' },
      { event: 'user.enable' },
    ])
  })

  it('the audit log records members of teams only when they join or leave', async () => {
    const ask = (method: string, path: string, json?: unknown) => test().ask('alice', method, path, { json })
    await ask('POST', '/v2/teams', { name: 'crew' })
    for (let time = 0; time < 2; time++) await ask('POST', '/v2/teams/crew/members', { users: ['bob'] })
    for (let time = 0; time < 2; time++) await ask('DELETE', '/v2/teams/crew/members', { users: ['bob'] })
    const found = (await events({ owner: 'alice' })).filter(({ event }) => event.startsWith('team.member'))
    expect(found.map(({ event, member }) => [event, member])).toEqual([
      ['team.member.add', 'bob'],
      ['team.member.remove', 'bob'],
    ])
  })

  it('the audit log records kept versions, copies, shared drafts and signing out everywhere', async () => {
    const ask = (user: string, method: string, path: string, json?: unknown) =>
      test().ask(user, method, path, { json })
    const { file, grid_fid } = await test().plot('alice', scatter([1, 2]), { world_readable: true })
    const { fid } = file
    await ask('alice', 'POST', `/v2/plots/${fid}/keep`, { name: 'final' })
    await ask('alice', 'POST', `/v2/plots/${fid}/keep`, { version: 'final', kept: false })
    await ask('bob', 'POST', `/v2/plots/${fid}/copy`, {})
    const { filename } = (await ask('alice', 'GET', `/v2/grids/${grid_fid}`)).json
    await test().ask('alice', 'POST', '/v2/grids/upload', {
      body: 'a\n1\n',
      headers: {
        'content-type': 'text/csv',
        'gridline-draft': 'pr-9',
        'x-file-name': `${filename}.csv`,
        'gridline-parent': '-1',
        'gridline-on-conflict': 'replace',
      },
    })
    await ask('alice', 'GET', '/v2/drafts/pr-9/charts')
    await ask('alice', 'DELETE', '/v2/drafts/pr-9')
    await ask('alice', 'POST', '/v2/sessions', {})
    await ask('alice', 'DELETE', '/v2/sessions')
    const found = (await events({ owner: 'alice' })).map(({ event, actor }) => `${event} ${actor}`)
    for (const event of [
      'version.keep alice',
      'version.release alice',
      'file.copy bob',
      'draft.delete alice',
      'session.close alice',
    ])
      expect(found).toContain(event)
  })

  it('the audit log has no events of failed or repeated changes', async () => {
    const { fid } = await test().grid('alice', 'once', { n: [1] })
    const before = (await events()).length
    const headers = { 'idempotency-key': 'publish once' }
    const publish = () =>
      test().ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: true }, headers })
    expect([(await publish()).status, (await publish()).status]).toEqual([200, 200])
    await test().ask('bob', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: false } })
    await test().ask('alice', 'PATCH', `/v2/files/${fid}`, {
      json: { world_readable: false },
      headers: { 'if-match': '"0"' },
    })
    expect((await events()).slice(before).map(({ event }) => event)).toEqual(['file.publish'])
  })

  it('the audit log keeps events for audit_days', async () => {
    const { store } = test().service
    await store.engine.write([], (db) =>
      db
        .insertInto('audit')
        .values({
          owner: 'alice',
          at: Date.now() - 400 * 86_400_000,
          id: 'old',
          event: 'file.share',
          actor: null,
          fid: null,
          details: '{}',
          request_id: null,
          address: null,
        })
        .execute(),
    )
    await store.sweep()
    expect(
      await store.read(({ audit }) => audit.listEvents({ since: 0 }, undefined, 10_000)),
    ).not.toContainEqual(expect.objectContaining({ id: 'old' }))
  })
})
