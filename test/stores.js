// Runs the service tests on each store that is installed besides SQLite and PostgreSQL.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'

const has = (program) =>
  spawnSync('sh', ['-c', `PATH="$PATH:/usr/sbin" command -v ${program}`], { stdio: 'ignore' }).status === 0
const packages = '/usr/lib/postgresql'
const hasCitus =
  process.env.GRIDLINE_TEST_CITUS !== undefined ||
  (existsSync(packages) &&
    readdirSync(packages).some((version) => existsSync(`${packages}/${version}/lib/citus.so`)))

let failed = false
for (const [store, isHere] of [
  ['files', true],
  ['s3', true],
  ['pgbouncer', has('pgbouncer')],
  ['citus', hasCitus],
]) {
  if (!isHere) {
    console.log(`${store}: skipped, it is not installed`)
    continue
  }
  console.log(`${store}:`)
  const { status } = spawnSync('npx', ['vitest', 'run', 'test/service', ...process.argv.slice(2)], {
    env: { ...process.env, GRIDLINE_TEST_STORE: store },
    stdio: 'inherit',
  })
  failed ||= status !== 0
}
process.exit(failed ? 1 : 0)
