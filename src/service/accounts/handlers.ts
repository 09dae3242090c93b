import { Problem } from '../../contract/errors.ts'
import type { Handlers } from '../context.ts'

export const accountHandlers = {
  'users.current': async (service, { caller }) => {
    const user = await service.store.read(({ accounts }) => accounts.user(caller!.username))
    if (!user) throw new Problem('unauthenticated', 'this account is gone')
    const { owner, email, is_admin, date_joined } = user
    const joined = new Date(date_joined).toISOString().slice(0, 19).replace('T', ' ')
    return { body: { username: owner, email, is_admin: is_admin === 1, date_joined: joined } }
  },
} satisfies Partial<Handlers>
