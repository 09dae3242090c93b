// `gridline revert`: restores an earlier version.
import { type Client, resolveFid } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { defineCommand } from '../core/define.ts'
import { objectOf } from '../core/output-schema.ts'
import type { TableView } from '../output/view.ts'

const view: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'ID' },
    { field: 'action', title: 'ACTION' },
    { field: 'version', title: 'VERSION' },
    { field: 'of_version', title: 'SAME AS VERSION' },
  ],
}

export const command = defineCommand({
  output: objectOf('Reverted'),
  writes: true,
  createsVersions: true,
  reportsToCi: true,
  arguments: '<file>',
  options: [
    {
      flags: '--to <version>',
      description: 'version to restore: a number, date or name (default: the previous version)',
      completion: 'version',
    },
  ],
  examples: [
    'gridline revert sales',
    'gridline revert sales --to 3',
    'gridline revert sales --to 2026-11-01',
  ],
  async run(context, [file], { to, dryRun }) {
    const client = await context.client()
    const fid = await resolveFid(client, file)
    if (dryRun) await assertRevertible(client, fid, to ?? '-1')
    const json = { version: dryRun ? (to ?? '-1') : to }
    return { item: await client.call('versions.revert', { fid, json }), view }
  },
})

/** Throws the error of a refused revert: unknown version, or failed rules of the grid. */
async function assertRevertible(client: Client, fid: string, version: string): Promise<void> {
  const { filetype } = await client.call('files.get', { fid, version })
  if (filetype !== 'grid' || (await client.call('checks.get', { fid })).checks === null) return
  const report = await client.call('checks.run', { fid, version, json: {} })
  if (!report.passed)
    throw new Problem('checks_failed', `version ${version} fails the rules of the grid`, { checks: report })
}
