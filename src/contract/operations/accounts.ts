import * as r from '../resources.ts'
import * as s from '../schema.ts'
import type { Operation } from './operation.ts'
import { json, none } from './shared.ts'

export const accountsOperations = {
  'users.current': {
    summary: 'Get the authenticated user',
    method: 'GET',
    path: '/v2/users/current',
    access: 'caller',
    body: none,
    status: 200,
    result: r.UserMeta,
  },
  'users.get': {
    summary: 'Get a user',
    method: 'GET',
    path: '/v2/users/:username',
    access: 'anyone',
    body: none,
    status: 200,
    result: r.UserSummary,
  },
  'keys.list': {
    summary: 'List your API keys',
    method: 'GET',
    path: '/v2/keys',
    access: 'caller',
    body: none,
    status: 200,
    result: s.object({ keys: s.array(r.ApiKey) }),
  },
  'keys.create': {
    summary: 'Create an API key; the key is shown only once',
    method: 'POST',
    path: '/v2/keys',
    access: 'caller',
    body: json(r.KeyCreate),
    status: 201,
    result: r.NewApiKey,
  },
  'keys.revoke': {
    summary: 'Revoke an API key',
    method: 'DELETE',
    path: '/v2/keys/:id',
    access: 'caller',
    body: none,
    status: 204,
    result: 'none',
  },
  'oidc.exchange': {
    summary: 'Exchange an identity token of a CI system for an API key',
    method: 'POST',
    path: '/v2/oidc/exchange',
    access: 'anyone',
    body: json(r.TokenExchange),
    status: 201,
    result: r.NewApiKey,
  },
  'sessions.create': {
    summary: 'Create a link that signs a browser in, once',
    method: 'POST',
    path: '/v2/sessions',
    access: 'caller',
    body: json(r.SessionCreate),
    status: 201,
    result: r.NewSession,
  },
  'sessions.delete': {
    summary: 'Sign out all browsers',
    method: 'DELETE',
    path: '/v2/sessions',
    access: 'caller',
    body: none,
    status: 204,
    result: 'none',
  },
} as const satisfies Record<string, Operation>
