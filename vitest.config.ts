import { defineConfig, type Plugin } from 'vitest/config'

/** New databases are copies of the empty one, which lies beside the modules only in the build. */
const emptyDatabase: Plugin = {
  name: 'empty-database',
  enforce: 'pre',
  transform: (code, id) =>
    id.endsWith('/store/engines/sqlite-database.ts')
      ? code.replace("'./empty.db'", "'../../../../dist/empty.db'")
      : undefined,
}

export default defineConfig({
  plugins: [emptyDatabase],
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/setup.ts',
    setupFiles: ['test/support/seed.ts'],
    // A busy machine is no failure. Long runs try many cases in one test.
    testTimeout: process.env.GRIDLINE_TEST_LONG ? 3_600_000 : 180_000,
    hookTimeout: 180_000,
    pool: 'forks',
    // Files of one worker share their modules: loading them for each file took a quarter of the run.
    isolate: false,
    // A larger young generation: services and parsers make much garbage that dies young.
    execArgv: ['--max-semi-space-size=32'],
    // One more than the two cores that tests are written for: they wait for processes and disks for much of their time.
    maxWorkers: 3,
    reporters: ['default', './test/support/summary-reporter.ts'],
  },
})
