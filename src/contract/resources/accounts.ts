/** Users, keys and sessions. See docs/api.md#users. */
import * as s from '../schema.ts'
import { Timestamp } from './shared.ts'

/** Scopes of API keys. See docs/api.md#api-keys. */
export const scopeNames = ['read', 'write', 'admin'] as const

/** User as embedded in plots. Private fields are null for other callers. See docs/api.md#users. */
export const UserSummary = s.object({
  username: s.string(),
  profile_url: s.string(),
  avatar_url: s.nullable(s.string()),
  background_url: s.nullable(s.string()),
  bio: s.nullable(s.string()),
  nickname: s.nullable(s.string()),
  website: s.nullable(s.string()),
  stream_tokens: s.nullable(s.array(s.string())),
  feature_set_id: s.nullable(s.string()),
  csrf_token: s.nullable(s.string()),
  date_joined: s.string({ description: 'YYYY-MM-DD HH:MM:SS' }),
  map_access_tokens: s.nullable(s.anything()),
  has_password: s.nullable(s.boolean()),
  email: s.nullable(s.string()),
  is_active: s.nullable(s.boolean()),
  readonly: s.nullable(s.boolean()),
  is_dash_creator: s.nullable(s.boolean()),
  dash_created_count: s.nullable(s.integer()),
  is_chart_creator: s.nullable(s.boolean()),
  charts_created_count: s.nullable(s.integer()),
})
export type UserSummary = s.Static<typeof UserSummary>

export const SessionCreate = s.object({
  path: s.optional(s.string({ description: 'The page to show after signing in, for example /~alice/7/.' })),
})

export const NewSession = s.object({
  url: s.string({ description: 'Signs in the browser that opens it first, within five minutes.' }),
  path: s.string({ description: 'The same without the address of the server.' }),
  expires_at: s.string(),
})

export const ApiKey = s.object({
  id: s.string(),
  name: s.string(),
  scopes: s.array(s.string()),
  created_at: Timestamp,
  expires_at: s.nullable(Timestamp),
})
export type ApiKey = s.Static<typeof ApiKey>

export const KeyCreate = s.object({
  name: s.optional(s.string()),
  scopes: s.optional(s.array(s.enumOf(scopeNames))),
  expires: s.optional(
    s.string({ description: 'A duration such as 30d, 12h or 90m. Default: the key does not expire.' }),
  ),
})

export const NewApiKey = s.object({ ...ApiKey.properties, username: s.string(), api_key: s.string() })
export type NewApiKey = s.Static<typeof NewApiKey>

export const TokenExchange = s.object({
  token: s.string({
    description: 'An OpenID Connect identity token whose audience is the URL of the service.',
  }),
})

export const LoginRedeem = s.object({
  code: s.string({ description: 'The one-time code of the browser.' }),
  verifier: s.string({ description: 'The secret whose SHA-256, in Base64url, was the challenge.' }),
  name: s.optional(s.string({ description: 'Label of the key.' })),
})

export const UserMeta = s.object({
  username: s.string(),
  email: s.nullable(s.string()),
  is_admin: s.boolean(),
  date_joined: s.string(),
  /** Quota of the user; null for no limit. */
  quota: s.object({
    files: s.nullable(s.integer()),
    rows: s.nullable(s.integer()),
    bytes: s.nullable(s.integer()),
  }),
  /** Usage; null without a limit. Files in the trash count too. */
  used: s.object({ files: s.integer(), rows: s.nullable(s.integer()), bytes: s.nullable(s.integer()) }),
})
export type UserMeta = s.Static<typeof UserMeta>
