// Configuration of npm run bench:scale, which measures and fails only if it cannot.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// npm run bench:scale: figures, not tests. Nothing fails but what could not be measured.
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/bench/*.bench.ts'],
    globalSetup: ['test/support/postgres.ts'],
    testTimeout: 3_600_000,
    hookTimeout: 3_600_000,
    pool: 'forks',
    fileParallelism: false,
    reporters: ['default'],
  },
})
