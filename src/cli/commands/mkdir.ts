import { type Client, lookup, startOf } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { parseFid } from '../../contract/fid.ts'
import { defineCommand } from '../core/define.ts'
import { object } from '../core/prints.ts'
import { runEach } from '../files/batch.ts'
import { checkOwn } from '../files/targets.ts'
import { fileView } from '../output/view.ts'

export const command = defineCommand({
  prints: object('Folder'),
  writes: true,
  arguments: '<path...>',
  options: [{ flags: '-p, --parents', description: 'do not fail if the folder exists' }],
  examples: ['gridline mkdir Reports/2024', 'gridline mkdir -p Reports/2024'],
  async run(context, paths, options) {
    const client = await context.client()
    const make = async (path: string) => {
      try {
        return (await client.call('folders.create', { json: await inOwn(client, path) })).file
      } catch (error) {
        const there = error instanceof Problem && error.code === 'already_exists' && options.parents
        const found = there ? await lookup(client, path) : undefined
        if (found?.filetype === 'fold') return found
        throw error
      }
    }
    if (paths.length === 1) return { one: await make(paths[0]), view: fileView }
    return { ...(await runEach(paths, make)), view: fileView }
  },
})

/** Parses a folder path, which may start with the id of one's own folder (`alice:12/sub`). */
async function inOwn(client: Client, given: string): Promise<{ path: string; parent?: number }> {
  const { path, parent, user } = startOf(given)
  if (user === undefined && !parseFid(given)) return { path }
  if (user === undefined) throw new Problem('usage', `${given} is an id, not a path`)
  await checkOwn(client, user, given)
  return { path, parent }
}
