// Properties of the policy table.
import { expect, it } from 'vitest'
import { isAllowed, ROLES_BY_ACCESS } from '../../../src/service/access/policy.ts'

const accesses = Object.keys(ROLES_BY_ACCESS) as (keyof typeof ROLES_BY_ACCESS)[]

it('the owner may do everything with a file, whether active or in the trash', () => {
  for (const access of accesses)
    for (const state of ['active', 'trashed'] as const)
      expect([access, state, isAllowed(access, state, new Set(['owner']))]).toEqual([access, state, true])
})

it('nobody without a role may do anything', () => {
  for (const access of accesses) expect(isAllowed(access, 'active', new Set())).toBe(false)
})

it('the public and holders of a share key may read active files, and nothing else', () => {
  for (const role of ['anyone', 'key_holder'] as const) {
    expect(accesses.filter((access) => isAllowed(access, 'active', new Set([role])))).toEqual(['read'])
    expect(accesses.filter((access) => isAllowed(access, 'trashed', new Set([role])))).toEqual([])
  }
})

it('write access includes everything that read access permits', () => {
  const may = (roles: Parameters<typeof isAllowed>[2]) =>
    accesses.filter((access) => isAllowed(access, 'active', roles))
  expect(may(new Set(['reader', 'writer']))).toEqual(expect.arrayContaining(may(new Set(['reader']))))
  expect(may(new Set(['reader', 'writer']))).not.toContain('own')
})
