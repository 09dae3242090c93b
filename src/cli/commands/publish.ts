// `gridline publish`: makes files public.
import { notePrivateData } from '../charts/create.ts'
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { runOnFiles } from '../files/batch.ts'
import { describePrivateItems } from '../files/board-file.ts'
import { linkView } from '../output/view.ts'

/** Quotes text for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

export const command = defineCommand({
  output: arrayOf('File'),
  writes: true,
  arguments: '<file...>',
  examples: ['gridline publish sales', "gridline publish 'Reports/*'"],
  run(context, files) {
    const json = { world_readable: true }
    return runOnFiles(
      context,
      files,
      async (client, fid, name) => {
        const file = await client.call('files.update', { fid, json })
        if (file.filetype === 'fold')
          context.messages.note(
            `${name}: anyone can now list the folder; access to the files in it is unchanged. Publish them with: gridline publish ${quoted(`${name}/*`)}`,
          )
        if (file.filetype === 'plot') await notePrivateData(context, client, file, name, 'anyone')
        if (file.filetype !== 'dashboard') return file
        const hidden = describePrivateItems(context, await client.call('dashboards.get', { fid }))
        return hidden === undefined ? file : { ...file, warnings: [hidden] }
      },
      linkView,
    )
  },
})
