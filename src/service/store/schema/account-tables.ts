// The database tables of users: their names, credentials, teams and quotas.

/** Tables of `Schema` about users. */
export interface AccountTables {
  users: {
    owner: string
    /** The username in lower case. Unique, so that no two users differ only in case. */
    name_key: string
    email: string | null
    is_admin: number
    date_joined: number
    /** When an operator disabled the user; null for active users. */
    disabled_at: number | null
  }
  /** Former usernames. They stay reserved, and links and scripts with them lead to the user. */
  former_names: { name: string; name_key: string; owner: string; renamed_at: number }
  api_keys: {
    owner: string
    /** SHA-256 of the key, in hex. The key itself is not stored. */
    hash: string
    name: string
    /** Comma-separated: read, write, admin. */
    scopes: string
    created_at: number
    expires_at: number | null
    revoked_at: number | null
  }
  counters: { owner: string; next_idlocal: number }
  teams: {
    /** Random, never reused. `owner/name` or the name for teams created by the first versions. */
    name_key: string
    name: string
    owner: string
    created_at: number
  }
  team_members: { team: string; username: string }
  /** Identity tokens accepted in exchange for an API key. `subject` may contain `*`. */
  oidc_trust: {
    id: string
    issuer: string
    subject: string
    username: string
    scopes: string
    created_at: number
  }
  /** Secrets for signing cursors. */
  secrets: { name: string; value: string }
  /**
   * Sessions of browsers (`session`), one-time codes to sign in (`code`), and sign-ins in progress (`login`).
   */
  sessions: {
    owner: string
    /** SHA-256 of the token, in hex. The token itself is not stored. */
    hash: string
    kind: 'session' | 'code' | 'login'
    /** The API key used to sign in. The session ends with it. */
    key_hash: string | null
    scopes: string
    created_at: number
    expires_at: number
  }
  /** Daily quotas used so far. `day` counts days since 1970, in UTC. */
  quotas: { owner: string; what: string; day: number; used: number }
  /** Quotas of users who do not have the default; null for no limit. */
  user_quotas: { owner: string; files: number | null; rows: number | null; bytes: number | null }
  /** Users who sign in by OpenID Connect, by issuer and subject of their tokens. */
  identities: { owner: string; issuer: string; subject: string; created_at: number }
}
