// Notice about newer versions of the command line.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installationMethod } from '../../contract/installation.ts'
import { version } from '../../contract/version.ts'
import { directoriesOf } from '../config/settings.ts'
import { runInBackground } from '../core/background.ts'
import type { Context } from '../core/context.ts'
import { fetchLatestVersion, isNewer } from '../core/releases.ts'

const DAY_MS = 24 * 3600 * 1000

/** Content of update.json. Times are in ms since 1970. */
interface UpdateState {
  /** Time of the last question for the latest version, and its answer. */
  asked_at?: number
  latest?: string
  /** Time of the last notice. */
  told_at?: number
}

/**
 * Prints a note on a terminal if a newer version exists, at most once a day. The latest version
 * is asked for in the background. Never in CI jobs, or with GRIDLINE_NO_UPDATE_NOTICE.
 */
export async function noteUpdate({ environment, messages }: Context): Promise<void> {
  if (!messages.isTerminal || messages.isSilent || environment.CI || environment.GRIDLINE_NO_UPDATE_NOTICE)
    return
  const file = updateFile(environment)
  const state = readState(file)
  const now = Date.now()
  const { latest, told_at = 0, asked_at = 0 } = state
  if (latest !== undefined && isNewer(latest, version) && now - told_at > DAY_MS) {
    messages.note(`gridline ${latest} is available (this is ${version}): gridline update`)
    writeState(file, { ...state, told_at: now })
  }
  if (now - asked_at < DAY_MS) return
  writeState(file, { ...readState(file), asked_at: now })
  runInBackground('__update')
}

/** Asks for the latest version, and stores it. Runs in the background. */
export async function storeLatestVersion(environment: NodeJS.ProcessEnv): Promise<void> {
  const latest = await fetchLatestVersion(installationMethod(), environment).catch(() => undefined)
  const file = updateFile(environment)
  if (latest !== undefined) writeState(file, { ...readState(file), latest })
}

/** Path of update.json. */
function updateFile(environment: NodeJS.ProcessEnv): string {
  return join(directoriesOf(environment).config, 'update.json')
}

function readState(file: string): UpdateState {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as UpdateState
  } catch {
    return {}
  }
}

function writeState(file: string, state: UpdateState): void {
  try {
    writeFileSync(file, JSON.stringify(state), { mode: 0o600 })
  } catch {
    // Without a writable folder there is no notice.
  }
}
