// `gridline logout`: removes a profile and its key.
import { Problem } from '../../contract/errors.ts'
import { defineCommand } from '../core/define.ts'
import { otherOutput } from '../core/output-schema.ts'

export const command = defineCommand({
  output: otherOutput('nothing'),
  examples: ['gridline logout', 'gridline logout --profile work'],
  async run(context) {
    const config = await context.config.read()
    const profile =
      context.flags.profile ?? context.environment.GRIDLINE_PROFILE ?? config.profile ?? 'default'
    const storedProfile = config.profiles?.[profile]
    if (!storedProfile) throw new Problem('not_found', `not logged in (profile ${profile})`)
    if (storedProfile.keychain && storedProfile.key_origin)
      await context.keychain.delete(profile, storedProfile.key_origin)
    await context.config.update((next) => {
      delete next.profiles?.[profile]
      if (next.profile === profile) delete next.profile
    })
    context.messages.note(`Logged out of ${storedProfile.url}. The key is still valid on the server.`)
    return undefined
  },
})
