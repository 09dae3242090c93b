// Starts OpenStack Swift with its S3 interface.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AwsClient } from '../../src/vendor/s3.ts'
import { freePort } from './pgbouncer.ts'

export interface Swift {
  address: string
  environment: Record<string, string>
  stop: () => Promise<void>
}

/** True if OpenStack Swift is installed from Debian's packages. */
export function hasSwift(): boolean {
  return (
    ['swift-proxy-server', 'swift-account-server', 'swift-container-server', 'swift-object-server'].every(
      (program) => spawnSync('which', [program]).status === 0,
    ) && existsSync('/etc/swift/swift.conf')
  )
}

/** Starts Swift with its S3 interface: four processes, one disk. */
export async function startSwift(): Promise<Swift> {
  const folder = mkdtempSync(join(tmpdir(), 'gridline-swift-'))
  mkdirSync(join(folder, 'disks', 'd1'), { recursive: true })
  const [proxy, account, container, object] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ]
  for (const [ring, port] of [
    ['account', account],
    ['container', container],
    ['object', object],
  ]) {
    const build = (...args: string[]): void => {
      const done = spawnSync('swift-ring-builder', [join(folder, `${ring}.builder`), ...args], {
        encoding: 'utf8',
      })
      // Exit code 1 is a warning.
      if (done.status === null || done.status > 1)
        throw new Error(`swift-ring-builder: ${done.stdout}${done.stderr}`)
    }
    build('create', '2', '1', '0')
    build(
      'add',
      '--region',
      '1',
      '--zone',
      '1',
      '--ip',
      '127.0.0.1',
      '--port',
      String(port),
      '--device',
      'd1',
      '--weight',
      '1',
    )
    build('rebalance')
  }
  const common = (port: number): string =>
    `[DEFAULT]\nbind_ip = 127.0.0.1\nbind_port = ${port}\nworkers = 0\nswift_dir = ${folder}\ndevices = ${folder}/disks\nmount_check = false\nlog_level = ERROR\nuser = root\n`
  for (const [kind, port] of [
    ['account', account],
    ['container', container],
    ['object', object],
  ] as const)
    writeFileSync(
      join(folder, `${kind}.conf`),
      `${common(port)}[pipeline:main]\npipeline = ${kind}-server\n[app:${kind}-server]\nuse = egg:swift#${kind}\n`,
    )
  writeFileSync(
    join(folder, 'proxy.conf'),
    `${common(proxy)}[pipeline:main]
pipeline = catch_errors gatekeeper cache s3api tempauth proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:cache]
use = egg:swift#memcache
[filter:s3api]
use = egg:swift#s3api
location = eu-test-1
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
`,
  )
  const children: ChildProcess[] = []
  for (const kind of ['account', 'container', 'object', 'proxy'])
    children.push(
      spawn(`swift-${kind}-server`, [join(folder, `${kind}.conf`)], { cwd: folder, stdio: 'ignore' }),
    )
  const stop = async (): Promise<void> => {
    await Promise.all(
      children.map((child) => {
        if (child.exitCode !== null) return undefined
        const gone = new Promise((resolve) => child.once('exit', resolve))
        child.kill('SIGKILL')
        return gone
      }),
    )
    rmSync(folder, { recursive: true, force: true })
  }
  const url = `http://127.0.0.1:${proxy}`
  const environment = { AWS_ACCESS_KEY_ID: 'test:tester', AWS_SECRET_ACCESS_KEY: 'testing' }
  const client = new AwsClient({
    accessKeyId: environment.AWS_ACCESS_KEY_ID,
    secretAccessKey: environment.AWS_SECRET_ACCESS_KEY,
    service: 's3',
    region: 'eu-test-1',
    retries: 0,
  })
  try {
    for (let attempt = 0; ; attempt++)
      try {
        const made = await client.fetch(`${url}/gridline`, { method: 'PUT' })
        if (made.ok) break
        throw new Error(`swift: ${made.status} ${await made.text()}`)
      } catch (error) {
        if (attempt > 100) throw error
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
  } catch (error) {
    await stop()
    throw error
  }
  return {
    address: `s3://gridline/prefix?endpoint=${url}&region=eu-test-1`,
    environment,
    stop,
  }
}
