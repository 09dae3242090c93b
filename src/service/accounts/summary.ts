// Users as the API shows them to others.
import type { UserSummary } from '../../contract/resources/index.ts'
import type { Service } from '../core/context.ts'
import type { UserRow } from '../store/aggregates/accounts.ts'

/** Formats `date_joined`: `YYYY-MM-DD HH:MM:SS`, in UTC. */
export function formatDateJoined(joinedAt: number): string {
  return new Date(joinedAt).toISOString().slice(0, 19).replace('T', ' ')
}

/** Returns a user as embedded in plots. Private fields are null for other callers. See docs/api.md#users. */
export function formatUserSummary(
  { url }: Service,
  user: Pick<UserRow, 'owner' | 'email' | 'date_joined'>,
  forThemselves: boolean,
): UserSummary {
  return {
    username: user.owner,
    profile_url: `${url}/~${user.owner}`,
    avatar_url: null,
    background_url: null,
    bio: null,
    nickname: null,
    website: null,
    stream_tokens: null,
    feature_set_id: null,
    csrf_token: null,
    date_joined: formatDateJoined(user.date_joined),
    map_access_tokens: null,
    has_password: null,
    email: forThemselves ? user.email : null,
    is_active: forThemselves ? true : null,
    readonly: null,
    is_dash_creator: null,
    dash_created_count: null,
    is_chart_creator: null,
    charts_created_count: null,
  }
}
