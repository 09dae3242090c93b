import { defineCommand } from '../core/define.ts'
import { array } from '../core/prints.ts'
import { runOnFiles } from '../files/batch.ts'
import { fileView } from '../output/view.ts'

export const command = defineCommand({
  prints: array('File'),
  writes: true,
  arguments: '<file...>',
  examples: ['gridline trash sales', "gridline trash 'Reports/2023*'"],
  run: (context, files) =>
    runOnFiles(
      context,
      files,
      async (client, fid, of) => {
        const file = await client.call('files.trash', { fid })
        if (file.filetype === 'grid' && file.referencers.length > 0)
          context.messages.warning(
            `${of}: plots that show it, which others see without data until it is restored: ${file.referencers.join(', ')}`,
          )
        return file
      },
      fileView,
    ),
})
