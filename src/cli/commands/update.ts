// `gridline update`: installs the latest version, in the way this copy was installed.
import { Problem } from '../../contract/errors.ts'
import { installationMethod } from '../../contract/installation.ts'
import { version } from '../../contract/version.ts'
import { defineCommand, dryRunOption } from '../core/define.ts'
import { objectOf } from '../core/output-schema.ts'
import { downloadUrl, fetchLatestVersion, isNewer, updaterOf } from '../core/releases.ts'

export const command = defineCommand({
  output: objectOf([], {
    version: 'the version of this copy before the update',
    latest: 'the latest version',
    installed: 'how this copy was installed',
    action: 'unchanged, updated, or available: then run the command',
    command: 'the command that updates this copy; null if it is the latest version',
  }),
  options: [dryRunOption],
  examples: ['gridline update', 'gridline update --dry-run'],
  async run({ environment, messages }, _, { dryRun }) {
    const method = installationMethod()
    const { how, runs, command: commandOf } = updaterOf(method)
    const latest = await fetchLatestVersion(method, environment)
    const isLatest = !isNewer(latest, version)
    const command = isLatest ? null : commandOf(latest, downloadUrl(environment))
    const isRun = command !== null && runs === true && !dryRun
    if (isRun) {
      messages.note(command)
      runCommand(command)
    }
    const action = isLatest ? 'unchanged' : isRun ? 'updated' : 'available'
    return {
      item: { version, latest, installed: how, action, command },
      view: {
        columns: [
          { field: 'version', title: 'VERSION' },
          { field: 'latest', title: 'LATEST' },
          { field: 'installed', title: 'INSTALLED' },
          { field: 'action', title: 'ACTION' },
          { field: 'command', title: 'COMMAND', format: (text: string | null) => text ?? '' },
        ],
      },
    }
  },
})

/** Runs a command in the shell; its output is shown on stderr. Throws `failed`. */
function runCommand(command: string): void {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const { status, error } = spawnSync(command, { shell: true, stdio: ['inherit', 2, 2] })
  if (status === 0) return
  throw new Problem('failed', `the update failed: ${error?.message ?? `exit code ${status}`}`, {
    hint: `Nothing else was changed. Run it yourself, perhaps as root: ${command}`,
  })
}
