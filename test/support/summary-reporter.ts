// Reporter that prints the slowest files and a summary line.
import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

/** Number of slowest files to list. */
const SLOWEST = 10

/** Prints the slowest files, and the last line of a run: `N passed, N failed`. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state]++
      if (module.errors().length > 0) counts.failed++
    }
    const slowest = modules
      .map((module) => {
        const { duration, collectDuration, prepareDuration, environmentSetupDuration } = module.diagnostic()
        return {
          file: relative(process.cwd(), module.moduleId),
          ms: duration + collectDuration + prepareDuration + environmentSetupDuration,
        }
      })
      .sort((one, other) => other.ms - one.ms)
      .slice(0, SLOWEST)
    process.on('exit', () => {
      if (modules.length > SLOWEST) {
        console.log('slowest files:')
        for (const { file, ms } of slowest) console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${file}`)
      }
      console.log(
        `${counts.passed} passed, ${counts.failed} failed${counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''}`,
      )
    })
  }
}
