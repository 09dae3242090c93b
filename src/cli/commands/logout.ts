import { Problem } from '../../contract/errors.ts'
import { defineCommand } from '../core/define.ts'
import { other } from '../core/prints.ts'

export const command = defineCommand({
  prints: other('nothing'),
  examples: ['gridline logout', 'gridline logout --profile work'],
  async run(context) {
    const config = await context.config.read()
    const profile =
      context.flags.profile ?? context.environment.GRIDLINE_PROFILE ?? config.profile ?? 'default'
    const known = config.profiles?.[profile]
    if (!known) throw new Problem('not_found', `not logged in (profile ${profile})`)
    if (known.keychain && known.key_origin) await context.keychain.delete(profile, known.key_origin)
    await context.config.change((next) => {
      delete next.profiles?.[profile]
      if (next.profile === profile) delete next.profile
    })
    context.messages.note(`Logged out of ${known.url}. The key is still valid on the server.`)
    return undefined
  },
})
