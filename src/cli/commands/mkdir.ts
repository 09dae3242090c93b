// `gridline mkdir`: creates folders.
import { type Client, lookup, splitFolderId } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { parseFid } from '../../contract/fid.ts'
import { defineCommand } from '../core/define.ts'
import { objectOf } from '../core/output-schema.ts'
import { runEach } from '../files/batch.ts'
import { assertOwnFolder } from '../files/targets.ts'
import { fileView } from '../output/view.ts'

export const command = defineCommand({
  output: objectOf('Folder'),
  writes: true,
  arguments: '<path...>',
  options: [{ flags: '-p, --parents', description: 'do not fail if the folder exists' }],
  examples: ['gridline mkdir Reports/2024', 'gridline mkdir -p Reports/2024'],
  async run(context, paths, options) {
    const client = await context.client()
    const make = async (path: string) => {
      try {
        return (await client.call('folders.create', { json: await parseOwnPath(client, path) })).file
      } catch (error) {
        const mayExist = error instanceof Problem && error.code === 'already_exists' && options.parents
        const existing = mayExist ? await lookup(client, path) : undefined
        if (existing?.filetype === 'fold') return existing
        throw error
      }
    }
    if (paths.length === 1) return { item: await make(paths[0]), view: fileView }
    return { ...(await runEach(paths, make)), view: fileView }
  },
})

/** Parses a folder path, which can start with the id of a folder owned by the user (`alice:12/sub`). */
async function parseOwnPath(client: Client, text: string): Promise<{ path: string; parent?: number }> {
  const { path, parent, user } = splitFolderId(text)
  if (user === undefined && !parseFid(text)) return { path }
  if (user === undefined) throw new Problem('usage', `${text} is an id, not a path`)
  await assertOwnFolder(client, user, text)
  return { path, parent }
}
