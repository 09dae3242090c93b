// Global setup of a test run.
import type { TestProject } from 'vitest/node'
import { build } from './build.ts'
import startStores from './postgres.ts'

/** Builds dist/ and starts PostgreSQL, in parallel. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [stop] = await Promise.all([startStores(project), build()])
  return stop
}
