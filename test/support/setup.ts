import type { TestProject } from 'vitest/node'
import { build } from './build.ts'
import startStores from './postgres.ts'

/** What all tests need, at the same time: the build, and a PostgreSQL. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [stop] = await Promise.all([startStores(project), build()])
  return stop
}
