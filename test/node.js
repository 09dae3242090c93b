// Runs tests with other versions of Node, which come from npm: node test/node.js [22 24] [-- vitest arguments]
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { getNodePackage } from '../deploy/bundle/node-package.js'

const split = process.argv.indexOf('--')
const majors = process.argv.slice(2, split < 0 ? undefined : split)
const tests = split < 0 ? [] : process.argv.slice(split + 1)
const system = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`

let failed = false
for (const major of majors.length > 0 ? majors : ['20', '22', '24']) {
  const { stdout } = spawnSync('npm', ['view', `node@${major}`, 'version', '--json'], { encoding: 'utf8' })
  const version = [JSON.parse(stdout)].flat().at(-1)
  const node = join(getNodePackage(`node-${system}`, version), 'bin', 'node')
  console.log(`Node ${version}:`)
  const { status } = spawnSync(
    node,
    ['node_modules/vitest/vitest.mjs', 'run', ...(tests.length > 0 ? tests : ['test/cli', 'test/service'])],
    { env: { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` }, stdio: 'inherit' },
  )
  failed ||= status !== 0
}
process.exit(failed ? 1 : 0)
