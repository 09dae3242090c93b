import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/setup.ts',
    setupFiles: ['test/support/seed.ts'],
    // A busy machine is no failure.
    testTimeout: 180_000,
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
