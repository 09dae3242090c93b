// Every operation on a file for every role, access and state.
import { describe, expect, it } from 'vitest'
import { methodsOf, type Operation, operations, routesOf } from '../../../src/contract/operations/index.ts'
import { createUser } from '../../../src/service/admin.ts'
import { runs } from '../../support/property-runs.ts'
import { onSqliteFirst, type TestService } from '../../support/service.ts'

/**
 * The expected permissions, written independently of the implementation: for each operation on a file, the
 * least access that permits it. See docs/api.md#conventions.
 */
type Needs = 'read' | 'read, with an account' | 'collaborate' | 'write' | 'trash' | 'own' | 'operator'
const needs: Record<string, Needs> = {
  'grids.get': 'read',
  'grids.content': 'read',
  'grids.describe': 'read',
  'grids.diff': 'read',
  'checks.run': 'read',
  'checks.get': 'read',
  'checks.set': 'write',
  'dashboards.get': 'read',
  'dashboards.update': 'write',
  'derivations.get': 'read',
  'alerts.create': 'own',
  'mailings.send': 'read, with an account',
  'mailings.create': 'read, with an account',
  'refreshes.get': 'write',
  'refreshes.set': 'own',
  'refreshes.run': 'write',
  'refreshes.delete': 'own',
  'derivations.delete': 'own',
  'rows.append': 'write',
  'rows.history': 'write',
  'columns.get': 'read',
  'columns.create': 'write',
  'columns.update': 'write',
  'columns.delete': 'write',
  'files.get': 'read',
  'files.update': 'write',
  'files.delete': 'trash',
  'files.content': 'read',
  'files.copy': 'read, with an account',
  'files.image': 'read',
  'versions.list': 'read',
  'versions.revert': 'write',
  'versions.keep': 'write',
  'versions.forget': 'own',
  'files.path': 'read',
  'files.sources': 'read',
  'files.trash': 'trash',
  'files.restore': 'own',
  'files.permanent_delete': 'own',
  'files.drop_reference': 'write',
  'collaborators.list': 'collaborate',
  'collaborators.add': 'own',
  'collaborators.remove': 'own',
  'stars.add': 'read, with an account',
  'stars.remove': 'read, with an account',
  'plots.get': 'read',
  'plots.update': 'write',
  'plots.content': 'read',
  'feed.add': 'operator',
  'feed.remove': 'operator',
  'folders.get': 'read',
}

const roles = [
  'owner',
  'writer',
  'reader',
  'folder writer',
  'team reader',
  'invited',
  'stranger',
  'nobody',
  'nobody with the key',
  'nobody with a wrong key',
] as const
type Role = (typeof roles)[number]
const accesses = ['private', 'public', 'secret'] as const
const states = ['active', 'trashed', 'gone'] as const

const users: Partial<Record<Role, string>> = {
  owner: 'alice',
  writer: 'wendy',
  reader: 'rita',
  'folder writer': 'fiona',
  'team reader': 'tom',
  invited: 'ivan',
  stranger: 'bob',
}

function may(role: Role, access: (typeof accesses)[number], state: string, isReading: boolean): Set<Needs> {
  const collaborator = ['owner', 'writer', 'reader', 'folder writer', 'team reader', 'invited'].includes(role)
  const held = access === 'secret' && role === 'nobody with the key' && isReading
  const may = new Set<Needs>()
  if (state === 'gone') return may
  if (collaborator || (state === 'active' && (access === 'public' || held))) may.add('read')
  if (may.has('read') && users[role]) may.add('read, with an account')
  if (collaborator) may.add('collaborate')
  if (role === 'owner' || (state === 'active' && (role === 'writer' || role === 'folder writer')))
    may.add('write')
  if (role === 'owner' || role === 'folder writer') may.add('trash')
  if (role === 'owner') may.add('own')
  return may
}

/** A valid body or query for each operation, so that permission alone decides. */
const asked: Record<string, { json?: unknown; query?: string }> = {
  'rows.append': { json: { rows: [] } },
  'rows.history': { query: 'where=x%3D1' },
  'checks.run': { json: { checks: { table: { rows: '0..' } } } },
  'checks.set': { json: { checks: null } },
  'alerts.create': { json: { stale_seconds: 1, to: 'nobody' } },
  'mailings.send': { json: { to: [] } },
  'mailings.create': { json: { to: [], every: 'never' } },
  'refreshes.set': { json: { url: 'http://example.com', every: 1e9 } },
  'columns.create': { json: { cols: '[]' } },
  'columns.update': { json: { cols: '[]' }, query: 'uid=' },
  'columns.delete': { query: 'uid=000000' },
  'files.drop_reference': { json: { fid: 'alice:999' } },
  // Names no existing version, which matters only after the permission check.
  'versions.revert': { json: { version: '!' } },
  'versions.keep': { json: {} },
  'grids.diff': { query: 'base_version=-0' },
  'versions.forget': { query: 'version=!' },
}

describe('the policy table', () => {
  it('the policy table has an entry for every operation on a file, and no others', () => {
    const onFiles = Object.entries(operations).filter(([, { path }]) => path.includes(':fid'))
    expect(Object.keys(needs).sort()).toEqual(onFiles.map(([name]) => name).sort())
  })
})

async function people(test: TestService): Promise<void> {
  for (const name of ['wendy', 'rita', 'fiona', 'tom']) await test.user(name)
  await test.ask('alice', 'POST', '/v2/teams', { json: { name: 'crew', members: ['tom'] } })
}

async function share(test: TestService, fid: string, folder: string): Promise<void> {
  for (const [on, json] of [
    [fid, { users: ['wendy'], readonly: false }],
    [fid, { users: ['rita', 'ivan@example.org'], teams: ['crew'], readonly: true }],
    [folder, { users: ['fiona'], readonly: false }],
  ] as const) {
    const { status, text } = await test.ask('alice', 'POST', `/v2/files/${on}/collaborators`, { json })
    if (status !== 200) throw new Error(text)
  }
}

onSqliteFirst('permissions', (test) => {
  it('every operation obeys the policy for every role, access and state', async () => {
    await people(test())
    const wrong: string[] = []
    let invited = false
    let round = 0
    for (const access of accesses) {
      for (const kind of ['grid', 'plot', 'fold'] as const) {
        const folder = (
          await test().ask('alice', 'POST', '/v2/folders', { json: { path: `${access} ${kind}` } })
        ).json.file.fid
        const more = {
          parent: Number(folder.split(':')[1]),
          world_readable: access === 'public',
          share_key_enabled: access === 'secret',
          filename: 'subject',
        }
        const make = async (): Promise<string> => {
          if (kind === 'grid') return (await test().grid('alice', 'subject', { a: [1] }, more)).fid
          const { json } =
            kind === 'plot'
              ? await test().ask('alice', 'POST', '/v2/plots', { json: { figure: { data: [] }, ...more } })
              : await test().ask('alice', 'POST', '/v2/folders', { json: { path: 'subject', ...more } })
          return json.file.fid
        }
        const fid = await make()
        await test().ask('alice', 'PATCH', `/v2/files/${fid}`, {
          json: { share_key_enabled: access === 'secret' },
        })
        await share(test(), fid, folder)
        if (!invited) {
          const made = await createUser(test().service.store, 'ivan', { email: 'Ivan@Example.org' })
          test().keys.set('ivan', made.api_key)
          invited = true
        }
        const key = (await test().ask('alice', 'GET', `/v2/files/${fid}`)).json.share_key
        // Access to deleted files does not matter: once is enough.
        for (const state of access === 'public' ? states : states.slice(0, 2)) {
          if (state === 'trashed') await test().ask('alice', 'POST', `/v2/files/${fid}/trash`)
          if (state === 'gone') {
            await test().ask('alice', 'POST', `/v2/files/${fid}/trash`)
            await test().ask('alice', 'DELETE', `/v2/files/${fid}/permanent_delete`)
          }
          round++
          for (const [k, [name, need]] of Object.entries(needs).entries()) {
            // In short runs, each operation in a sixth of the cases.
            if ((k + round) % runs(6, 1) !== 0) continue
            const operation: Operation = operations[name as keyof typeof operations]
            for (const { path, filetype } of routesOf(operation)) {
              // Operations that change the state are tried only without permission; states.test.ts covers the rest.
              const changes = [
                'files.delete',
                'files.trash',
                'files.restore',
                'files.permanent_delete',
              ].includes(name)
              const asks = roles.map(async (role) => {
                const isGet = operation.method === 'GET'
                const granted = may(role, access, state, isGet || operation.agentTool === 'reads')
                const allowed = granted.has(need) && (!filetype || filetype === kind)
                if (changes && allowed) return
                const parameters = [
                  asked[name]?.query,
                  role === 'nobody with the key' && key ? `share_key=${key}` : '',
                  role === 'nobody with a wrong key' ? 'share_key=wrong' : '',
                ]
                const target = `${path.replace(':fid', fid)}?${parameters.filter(Boolean).join('&')}`
                const sent = isGet ? {} : { json: asked[name]?.json ?? {} }
                const { status, json } = await test().ask(users[role], methodsOf(operation)[0], target, sent)
                const anonymous = users[role] === undefined
                const expected =
                  need === 'operator' || (need === 'read, with an account' && anonymous)
                    ? [anonymous ? 401 : 403]
                    : !granted.has('read') || (filetype && filetype !== kind)
                      ? name === 'stars.remove' && users[role]
                        ? [404, 204]
                        : [404]
                      : allowed
                        ? [200, 201, 204, 400, 501]
                        : [anonymous ? 401 : 403]
                if (!expected.includes(status))
                  wrong.push(
                    `${name} ${path} ${kind} ${access} ${state} ${role}: ${status} ${json?.detail ?? ''}, not ${expected}`,
                  )
                // A refusal contains nothing else.
                if (status === 404 && !/^no such \w+, or you may not see it$/.test(json.detail))
                  wrong.push(`${name} ${role}: ${json.detail}`)
              })
              await Promise.all(asks)
            }
          }
        }
      }
    }
    expect(wrong.slice(0, 20)).toEqual([])
  })

  it('only the owner sees admin fields; current_user_permission is correct', async () => {
    const { fid } = await test().grid(
      'alice',
      'fields',
      { a: [1] },
      { world_readable: true, share_key_enabled: true },
    )
    await test().ask('alice', 'POST', `/v2/files/${fid}/collaborators`, { json: { users: ['bob'] } })
    const seen = async (user: string | undefined) => (await test().ask(user, 'GET', `/v2/files/${fid}`)).json
    expect(await seen('alice')).toMatchObject({
      current_user_permission: 'admin',
      deleted: false,
      share_key_enabled: true,
      share_key: expect.any(String),
    })
    for (const [user, permission] of [
      ['bob', 'write'],
      [undefined, 'read'],
    ] as const) {
      const meta = await seen(user)
      expect(meta.current_user_permission).toBe(permission)
      for (const field of ['deleted', 'share_key', 'share_key_enabled'])
        expect(Object.keys(meta)).not.toContain(field)
    }
    const refused = await test().ask('bob', 'PATCH', `/v2/files/${fid}`, {
      json: { share_key_enabled: false },
    })
    expect([refused.status, refused.json.errors[0].field]).toEqual([403, 'share_key_enabled'])
  })
})
