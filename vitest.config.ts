import { defineConfig } from 'vitest/config'
// For reporters and the setup, which run in this process.
import './test/support/typescript.js'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/setup.ts',
    // A busy machine is no failure.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    pool: 'forks',
    // Files of one worker share their modules: loading them for each file took a quarter of the run.
    isolate: false,
    // Vite would convert each module for each worker.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ['--import', './test/support/typescript.js'],
    // One more than the two cores that tests are written for: they wait for processes and disks for much of their time.
    maxWorkers: 4,
    reporters: ['default', './test/support/summary-reporter.ts'],
  },
})
