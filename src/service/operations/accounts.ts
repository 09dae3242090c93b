// Handlers of users, API keys, sessions and logins.
import { Problem } from '../../contract/errors.ts'
import type { ApiKey, NewApiKey } from '../../contract/resources/index.ts'
import {
  addKey,
  type CreatedKey,
  KEY_ID_CHARACTERS as ID_LENGTH,
  parseDuration,
} from '../accounts/accounts.ts'
import { openSession, redeemLoginCode } from '../accounts/sessions.ts'
import { formatDateJoined, formatUserSummary } from '../accounts/summary.ts'
import type { ApiKeyRow } from '../store/aggregates/credentials.ts'
import type { Handlers } from './handler.ts'

/** Returns an API key as its owner sees it. */
function formatKey({ hash, name, scopes, created_at, expires_at }: ApiKeyRow): ApiKey {
  return {
    id: hash.slice(0, ID_LENGTH),
    name,
    scopes: scopes.split(','),
    created_at: new Date(created_at).toISOString(),
    expires_at: expires_at === null ? null : new Date(expires_at).toISOString(),
  }
}

/** Returns a key that was just created, with its secret. */
function formatNewKey({ hash, ...key }: CreatedKey): NewApiKey {
  return { ...key, id: hash.slice(0, ID_LENGTH), created_at: new Date().toISOString() }
}

export const accountHandlers = {
  'users.current': async (service, { caller }) => {
    await service.store.quotas.refresh()
    const { username } = caller!
    const { user, quota, used } = await service.store.read(async ({ accounts, usage }) => {
      const quota = usage.getQuota(username)
      const isMeasured = quota.rows !== null || quota.bytes !== null
      const used = isMeasured
        ? await usage.measureUsage(username)
        : { files: await usage.countUserFiles(username), rows: null, bytes: null }
      return { user: await accounts.getUser(username), quota, used }
    })
    if (!user) throw new Problem('unauthenticated', 'this account no longer exists')
    const { owner, email, is_admin, date_joined } = user
    return {
      body: {
        username: owner,
        email,
        is_admin: is_admin === 1,
        date_joined: formatDateJoined(date_joined),
        quota,
        used: {
          files: used.files,
          rows: quota.rows === null ? null : used.rows,
          bytes: quota.bytes === null ? null : used.bytes,
        },
      },
    }
  },

  'users.get': async (service, { caller, name }) => {
    const user = await service.store.read(({ accounts }) => accounts.getUser(name))
    if (!user) throw new Problem('not_found', `no user named ${name.slice(0, 100)}`)
    return { body: formatUserSummary(service, user, caller?.username === user.owner) }
  },

  'keys.list': async (service, { caller }) => {
    const keys = await service.store.read(({ credentials }) => credentials.listApiKeys(caller!.username))
    return { body: { keys: keys.map(formatKey) } }
  },

  'logins.redeem': async (service, { fields }) => {
    const { code, verifier, name = 'gridline login' } = fields
    if (code.length > 200 || verifier.length < 43 || verifier.length > 128)
      throw new Problem('unauthenticated', 'this code is not valid')
    const login = await redeemLoginCode(service.store, code, verifier)
    if (!login)
      throw new Problem('unauthenticated', 'this code is not valid, or was used before', {
        hint: 'Begin again with: gridline login',
      })
    const created = await service.store.write([login.owner], (writers) =>
      addKey(writers, login.owner, {
        scopes: login.scopes,
        name: name.slice(0, 100),
        expiresAt: login.keyExpiresAt,
      }),
    )
    return { body: formatNewKey(created) }
  },

  'oidc.exchange': async (service, { fields }) => {
    return {
      body: formatNewKey(await (await service.tokenExchange.get()).exchange(service.store, fields.token)),
    }
  },

  'keys.create': async (service, call) => {
    const { name, scopes, expires } = call.fields
    const { username, scopes: ownScopes } = call.caller!
    // A key must not create a key with more scopes.
    const requested =
      scopes ?? ['read', 'write'].filter((scope) => ownScopes.has('admin') || ownScopes.has(scope))
    const missing = ownScopes.has('admin') ? undefined : requested.find((scope) => !ownScopes.has(scope))
    if (missing !== undefined)
      throw new Problem(
        'forbidden',
        `scopes: cannot grant the ${missing} scope: this API key does not have it`,
        { field: 'scopes' },
      )
    const { expiresAt } = call.caller!
    if (expiresAt !== null && (expires === undefined || Date.now() + parseDuration(expires) > expiresAt))
      throw new Problem('forbidden', 'expires: a key cannot expire later than the key that creates it', {
        field: 'expires',
        hint: `Your key expires at ${new Date(expiresAt).toISOString()}.`,
      })
    let created: { row: ApiKeyRow; api_key: string } | undefined
    // Only the id is stored for retries, never the key.
    await service.store.writeOnce(
      call.writeKey(username),
      async (writers) => {
        const key = await addKey(writers, username, { name, scopes: requested.join(','), expires })
        const row = (await writers.credentials.listApiKeys(username)).find(({ hash }) => hash === key.hash)!
        created = { row, api_key: key.api_key }
        return formatKey(row).id
      },
      {
        onReplay: (id) => {
          throw new Problem('conflict', `this request has already created the key ${id}`, {
            hint: 'A key is shown only once, in the first response. Revoke this key and create another.',
          })
        },
      },
    )
    const { row, api_key } = created!
    return { body: { ...formatKey(row), username, api_key } }
  },

  'sessions.create': async (service, { caller, fields }) => {
    const { username, scopes, keyHash } = caller!
    const opening = { owner: username, scopes: [...scopes].join(','), key_hash: keyHash ?? null }
    const { token, expires_at } = await openSession(service.store, 'code', opening)
    const next = fields.path === undefined ? '' : `&next=${encodeURIComponent(fields.path)}`
    const path = `/signin?code=${encodeURIComponent(token)}${next}`
    return { body: { url: service.url + path, path, expires_at: new Date(expires_at).toISOString() } }
  },

  'sessions.delete': async (service, { caller }) => {
    const { username } = caller!
    await service.store.write([username], ({ credentials }) => credentials.removeSessions(username))
    service.forgetCredentials()
    return { body: undefined }
  },

  'keys.revoke': async (service, call) => {
    const { username, scopes: ownScopes } = call.caller!
    await service.store.writeOnce(call.writeKey(username), async ({ credentials }) => {
      const key = (await credentials.listApiKeys(username)).find(
        ({ hash }) => hash.slice(0, ID_LENGTH) === call.name,
      )
      if (!key)
        throw new Problem('not_found', `you have no API key ${call.name.slice(0, 100)}`, {
          hint: 'List your keys with: gridline key list',
        })
      const missing = key.scopes.split(',').find((scope) => !ownScopes.has('admin') && !ownScopes.has(scope))
      if (missing !== undefined)
        throw new Problem(
          'forbidden',
          `cannot revoke a key with the ${missing} scope: your key does not have it`,
        )
      await credentials.revokeKey(username, key.hash)
      return null
    })
    service.forgetCredentials()
    return { body: undefined }
  },
} satisfies Partial<Handlers>
