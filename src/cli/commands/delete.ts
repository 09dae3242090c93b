import { type Client, lookupIfThere } from '../../client/index.ts'
import { fidFromLink, parseFid } from '../../contract/fid.ts'
import type { Command } from '../command.ts'
import { confirm, overFiles } from '../files.ts'
import type { View } from '../output/view.ts'

const view: View = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'filetype', title: 'TYPE' },
  ],
}

export const command: Command = {
  arguments: '<file...>',
  options: [{ flags: '-y, --yes', description: 'do not ask' }],
  examples: ['gridline delete sales', 'gridline delete alice:12 --yes', "gridline delete '2023*' --yes"],
  async run(context, files, { yes }) {
    const what = files.length === 1 ? files[0] : `${files.length} files`
    await confirm(`Delete ${what} for good? This cannot be undone.`, yes === true)
    const client = await context.client()
    const active = new Set<string>()
    for (const file of files) if (await isActive(client, file)) active.add(file)
    // Of one name in use and one in the trash, the one in use is meant.
    const groups = [
      { given: files.filter((file) => active.has(file)), trashed: false },
      { given: files.filter((file) => !active.has(file)), trashed: true },
    ].filter(({ given }) => given.length > 0)
    const outcomes = []
    for (const { given, trashed } of groups)
      outcomes.push(await overFiles(context, given, (c, fid) => remove(c, fid), view, { trashed }))
    if (outcomes.length === 1) return outcomes[0]
    return {
      many: outcomes.flatMap((one) =>
        one && 'many' in one ? one.many : one && 'one' in one ? [one.one] : [],
      ),
      failures: outcomes.flatMap((one) => (one && 'many' in one ? (one.failures ?? []) : [])),
      view,
    }
  },
}

async function isActive(client: Client, file: string): Promise<boolean> {
  if (parseFid(file) ?? fidFromLink(file)) return true
  return /[*?[]/.test(file) || (await lookupIfThere(client, file)) !== undefined
}

/** Whatever is deleted was in the trash before: a fault in between leaves it there. */
async function remove(client: Client, fid: string): Promise<object> {
  const file = await client.call('files.get', { fid })
  if (file.deleted !== true) await client.call('files.trash', { fid })
  await client.call('files.permanent_delete', { fid })
  return file
}
