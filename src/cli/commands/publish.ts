import type { Client } from '../../client/index.ts'
import { ifFound } from '../../contract/errors.ts'
import type { FileMeta } from '../../contract/resources.ts'
import { runOnFiles } from '../batch.ts'
import type { Context } from '../context.ts'
import { defineCommand } from '../define.ts'
import { linkView } from '../output/view.ts'

/** Quotes text for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Says which private grids a public plot shows: everybody who can see it can see its data. */
async function notePrivateData(
  context: Context,
  client: Client,
  { references }: FileMeta,
  of: string,
): Promise<void> {
  const names: string[] = []
  for (const fid of references) {
    const grid = await ifFound(client.call('files.get', { fid }))
    if (grid?.filetype === 'grid' && !grid.world_readable) names.push(`${grid.filename} (${fid})`)
  }
  if (names.length > 0)
    context.messages.note(
      `${of}: anyone can now see the data that the plot shows, also of private grids: ${names.join(', ')}`,
    )
}

export const command = defineCommand({
  writes: true,
  arguments: '<file...>',
  examples: ['gridline publish sales', "gridline publish 'Reports/*'"],
  run(context, files) {
    const json = { world_readable: true }
    return runOnFiles(
      context,
      files,
      async (client, fid, of) => {
        const file = await client.call('files.update', { fid, json })
        if (file.filetype === 'fold')
          context.messages.note(
            `${of}: anyone can now list the folder; access to the files in it is unchanged. Publish them with: gridline publish ${quoted(`${of}/*`)}`,
          )
        if (file.filetype === 'plot') await notePrivateData(context, client, file, of)
        return file
      },
      linkView,
    )
  },
})
