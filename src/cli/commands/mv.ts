// `gridline mv`: moves files into a folder.
import { Problem } from '../../contract/errors.ts'
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { runOnFiles } from '../files/batch.ts'
import { resolveFolderId } from '../files/targets.ts'
import { fileView } from '../output/view.ts'

export const command = defineCommand({
  output: arrayOf('File'),
  writes: true,
  arguments: '<source...>',
  usage: '<source...> <destination>',
  options: [
    {
      flags: '--to <folder>',
      description: 'destination folder, instead of the last argument (/ is the home folder)',
    },
  ],
  examples: [
    'gridline mv sales Reports',
    "gridline mv 'Reports/2023*' Archive",
    'gridline mv Reports/sales /',
  ],
  async run(context, words, { to }) {
    const folder = to ?? words[words.length - 1]
    const files = to === undefined ? words.slice(0, -1) : words
    if (files.length === 0)
      throw new Problem('usage', 'expected files and a folder', { hint: 'See: gridline mv --help' })
    const client = await context.client()
    const parent = await resolveFolderId(client, folder)
    return runOnFiles(context, files, (c, fid) => c.call('files.update', { fid, json: { parent } }), fileView)
  },
})
