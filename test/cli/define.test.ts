// Types of options follow from their declaration.
import { expect, it } from 'vitest'
import { defineCommand } from '../../src/cli/core/define.ts'
import { otherOutput } from '../../src/cli/core/output-schema.ts'

it('an undeclared option does not compile', () => {
  const without = defineCommand({
    output: otherOutput('nothing'),
    // @ts-expect-error: the command has no options.
    run: async (_context, _args, { user }) => ({ text: String(user) }),
  })
  const another = defineCommand({
    output: otherOutput('nothing'),
    options: [{ flags: '--scale <factor>', description: 'scale' }],
    // @ts-expect-error: it has another one.
    run: async (_context, _args, { scale, user }) => ({ text: `${scale}${user}` }),
  })
  const changing = defineCommand({
    output: otherOutput('nothing'),
    options: [{ flags: '--scale <factor>', description: 'scale' }],
    // @ts-expect-error: --dry-run is an option of commands that write, --limit of those that list.
    run: async (_context, _args, { dryRun }) => ({ text: String(dryRun) }),
  })
  expect(changing.writes).toBe(undefined)
  expect([without.options, another.options?.length]).toEqual([undefined, 1])
})
