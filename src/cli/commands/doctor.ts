// `gridline doctor`: checks the setup and suggests fixes.
import { accessSync, constants, existsSync, realpathSync, statfsSync, statSync } from 'node:fs'
import { release } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import { installationFolder, installationMethod } from '../../contract/installation.ts'
import { formatBytes } from '../../contract/limits.ts'
import { formatCount } from '../../contract/message-texts.ts'
import { version } from '../../contract/version.ts'
import { directoriesOf } from '../config/settings.ts'
import type { Context } from '../core/context.ts'
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { updaterOf } from '../core/releases.ts'
import { hasColor } from '../output/color.ts'
import type { TableView } from '../output/view.ts'

type Status = 'ok' | 'warning' | 'failure'

interface Check {
  check: string
  status: Status
  detail: string
  /** Suggested fix. */
  fix: string | null
}

const view: TableView = {
  id: 'check',
  columns: [
    { field: 'check', title: 'CHECK' },
    { field: 'status', title: 'STATUS' },
    { field: 'detail', title: 'DETAIL' },
    { field: 'fix', title: 'FIX', format: (fix: string | null) => fix ?? '' },
  ],
}

/** Clock difference, in ms, that breaks tokens and signatures. */
const MAX_CLOCK_SKEW_MS = 60_000
/** Free disk space, in bytes, below which uploads are likely to fail. */
const MIN_FREE_BYTES = 1024 * 1024 * 1024

export const command = defineCommand({
  output: arrayOf([], {
    check: 'name of the check',
    status: 'ok, warning or failure',
    detail: 'result of the check',
    fix: 'suggested fix, or null',
  }),
  options: [{ flags: '--no-chromium', description: 'skip the check for Chromium' }],
  examples: ['gridline doctor', 'gridline doctor --jq \'.[] | select(.status != "ok")\''],
  async run(context, _, { chromium }) {
    const checks: Check[] = [
      checkVersion(context),
      await checkSettings(context),
      ...(await checkServer(context)),
      checkProxy(context),
      checkDatabase(context),
      checkTerminal(context),
    ]
    if (chromium !== false) checks.push(await checkChromium(context))
    const failed = checks.filter(({ status }) => status === 'failure')
    return {
      items: checks,
      view,
      failures: failed.map(({ check, detail, fix }) => ({
        subject: check,
        problem: new Problem('failed', `${check}: ${detail}`, { hint: fix ?? undefined }),
      })),
    }
  },
})

function passedCheck(check: string, detail: string): Check {
  return { check, status: 'ok', detail, fix: null }
}

function failedCheck(check: string, status: Status, detail: string, fix: string): Check {
  return { check, status, detail, fix }
}

/** Checks that this copy is the one that the shell finds. */
function checkVersion({ environment: { PATH = '' } }: Context): Check {
  const { how } = updaterOf(installationMethod())
  const folder = installationFolder()
  const detail = `gridline ${version} (${how}: ${folder}), Node.js ${process.versions.node}, ${process.platform} ${release()} ${process.arch}`
  // Commands on Windows are scripts that name no path.
  const commands =
    process.platform === 'win32' ? [] : PATH.split(delimiter).map((place) => join(place, 'gridline'))
  // The command of an archive is beside its folder.
  const isOwn = (path: string): boolean =>
    [folder, join(folder, '..', 'bin')].some((one) => realpathSync(path).startsWith(one))
  const found = commands.filter(existsSync)
  const others = found.filter((path) => !isOwn(path))
  if (others.length === 0) return passedCheck('version', detail)
  return failedCheck(
    'version',
    'warning',
    `${detail}; another copy is ${others[0] === found[0] ? 'before it ' : ''}on the PATH: ${others[0]}`,
    'Remove one of them, or change the order of PATH.',
  )
}

async function checkSettings(context: Context): Promise<Check> {
  const { path } = context.config
  try {
    const { profile } = await context.settings()
    if (!existsSync(path)) return passedCheck('settings', `no file yet (${path}); profile ${profile.value}`)
    const { mode } = statSync(path)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      return failedCheck('settings', 'warning', `${path} can be read by other users`, `chmod 600 ${path}`)
    return passedCheck('settings', `${path}; profile ${profile.value} (${profile.source})`)
  } catch (error) {
    const hint = error instanceof Problem ? error.hint : undefined
    return failedCheck('settings', 'failure', errorMessageOf(error), hint ?? 'Fix the file.')
  }
}

async function checkServer(context: Context): Promise<Check[]> {
  try {
    const { client, server: url } = await context.connect()
    const started = performance.now()
    const response = await client.response('service.ready')
    await response.bytes().return?.(undefined)
    const ms = Math.round(performance.now() - started)
    const checks = [
      passedCheck('server', url === undefined ? 'files on this machine' : `${url} answers in ${ms} ms`),
    ]
    const date = Date.parse(response.headers.date ?? '')
    if (url !== undefined && Number.isFinite(date)) {
      const skew = Date.now() - date
      checks.push(
        Math.abs(skew) > MAX_CLOCK_SKEW_MS
          ? failedCheck(
              'clock',
              'warning',
              `the clock differs from the server by ${Math.round(skew / 1000)} s`,
              'Set the clock, for example with NTP.',
            )
          : passedCheck('clock', 'matches the server'),
      )
    }
    checks.push(await checkCredentials(context), ...(await checkPlots(context)))
    return checks
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return [
      failedCheck(
        'server',
        'failure',
        error.message,
        error.hint ?? 'Check the URL with: gridline config list',
      ),
    ]
  }
}

async function checkCredentials(context: Context): Promise<Check> {
  const { api_key, url } = await context.settings()
  const client = await context.client()
  try {
    const { username } = await client.call('users.current')
    return passedCheck(
      'credentials',
      url.value ? `${username}, with the key from: ${api_key.source}` : username,
    )
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    if (!api_key.value)
      return failedCheck(
        'credentials',
        'warning',
        'no API key, so only public files are readable',
        'gridline login',
      )
    return failedCheck(
      'credentials',
      'failure',
      `${error.message} (key from: ${api_key.source})`,
      'gridline login',
    )
  }
}

function checkProxy({ environment }: Context): Check {
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].filter((name) => environment[name])
  const exceptions = environment.NO_PROXY ?? environment.no_proxy
  if (names.length === 0) return passedCheck('proxy', 'none')
  return passedCheck('proxy', `${names.join(', ')}${exceptions ? `, except for ${exceptions}` : ''}`)
}

function checkDatabase({ environment }: Context): Check {
  const { data } = directoriesOf(environment)
  const file = join(data, 'gridline.db')
  try {
    const stats = statSync(file, { throwIfNoEntry: false })
    const existingFolder = nearestExistingFolder(data)
    if (!isWritable(existingFolder) || (stats && !isWritable(file)))
      return failedCheck(
        'database',
        'warning',
        stats ? `${file} is read-only` : `none yet, and ${file} cannot be created`,
        'Check the permissions of the folder, or set GRIDLINE_HOME.',
      )
    const { bavail, bsize } = statfsSync(existingFolder)
    const free = bavail * bsize
    const detail = `${stats ? `${file}, ${formatBytes(stats.size)}` : `none yet (${file})`}; ${formatBytes(free)} free`
    return free < MIN_FREE_BYTES
      ? failedCheck('database', 'warning', detail, 'Free some disk space.')
      : passedCheck('database', detail)
  } catch (error) {
    return failedCheck(
      'database',
      'failure',
      `${data}: ${errorMessageOf(error)}`,
      'Check the folder, or set GRIDLINE_HOME.',
    )
  }
}

/** Returns the folder, or its nearest existing ancestor. */
function nearestExistingFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestExistingFolder(dirname(folder))
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function checkTerminal({ environment }: Context): Check {
  const { stdout } = process
  if (!stdout.isTTY) return passedCheck('terminal', 'none: output is tab-separated, without colors')
  const colors = hasColor(stdout, environment) ? 'colors' : 'no colors'
  return passedCheck(
    'terminal',
    `${stdout.columns} × ${stdout.rows}, ${colors}, ${environment.TERM ?? 'TERM is not set'}`,
  )
}

async function checkChromium({ environment }: Context): Promise<Check> {
  const { chromiumCommand, findChromium } = await import('../../draw/index.ts')
  try {
    const { path } = await findChromium(environment.GRIDLINE_CHROMIUM)
    return passedCheck('chromium', path)
  } catch {
    return failedCheck(
      'chromium',
      'warning',
      'not found; images of plots are not available',
      chromiumCommand() ?? 'Install Chromium, or set GRIDLINE_CHROMIUM to its path.',
    )
  }
}

/** Maximum number of plots to check, last changed first. */
const MAX_CHECKED_PLOTS = 100

/** Checks whether the plots of the user find their columns. */
async function checkPlots(context: Context): Promise<Check[]> {
  const client = await context.client()
  try {
    const { username } = await client.call('users.current')
    const { children } = await client.call('folders.all', {
      query: { user: username, filetype: ['plot'], order_by: '-date_modified', page_size: MAX_CHECKED_PLOTS },
    })
    const checked = await Promise.all(
      children.results.map(({ fid }) => client.call('plots.get', { fid, query: { missing: true } })),
    )
    const broken = checked.filter(({ missing }) => missing)
    if (broken.length === 0)
      return [
        passedCheck(
          'plots',
          `${formatCount(checked.length, 'plot')}${checked.length === MAX_CHECKED_PLOTS ? ', last changed,' : ''} with all their data`,
        ),
      ]
    return broken.map(({ filename, fid, missing }) =>
      failedCheck(
        'plots',
        'warning',
        `${filename} (${fid}): ${missing}`,
        'Upload the grid again with that column, or update the plot.',
      ),
    )
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    // Anonymous users have no plots; other errors are reported for the server.
    return []
  }
}
