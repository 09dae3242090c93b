// Runs tests of pages in the installed browsers, beside the Chromium of the package: node test/browsers.js
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const TESTS = ['test/system/browser-journeys.test.ts', 'test/system/edit-form.test.ts']

/** Names of the program of each browser, and the variable that selects it in tests. */
const BROWSERS = {
  Chromium: { names: ['chromium', 'google-chrome', 'google-chrome-stable'], variable: 'GRIDLINE_CHROMIUM' },
  Firefox: { names: ['firefox', 'firefox-esr'], variable: 'GRIDLINE_TEST_FIREFOX' },
}

/** Returns the path of the first of these programs that is on the PATH. */
function findProgram(names) {
  const paths = names.flatMap((name) => process.env.PATH.split(delimiter).map((folder) => join(folder, name)))
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

let failed = false
for (const [browser, { names, variable }] of Object.entries(BROWSERS)) {
  const path = findProgram(names)
  console.log(path ? `${browser}: ${path}` : `${browser}: not installed, skipped`)
  if (!path) continue
  const env = { ...process.env, [variable]: path }
  const { status } = spawnSync('npx', ['vitest', 'run', ...TESTS], { env, stdio: 'inherit' })
  failed ||= status !== 0
}
process.exit(failed ? 1 : 0)
