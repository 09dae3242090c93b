// Global setup of a test run.
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { build } from './build.ts'
import startStores from './postgres.ts'
import { isLong } from './property-runs.ts'

/** Builds dist/ and starts PostgreSQL, in parallel. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(findFastFolder(), 'gridline-run-'))
  // Read by `tmpdir()`, also in workers and in commands.
  process.env.TMPDIR = folder
  chmodSync(folder, 0o755)
  const [stop] = await Promise.all([startStores(project), build()])
  return async () => {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Folder in memory, as Linux has it, and its least free space in bytes. */
const MEMORY_FOLDER = '/dev/shm'
const MIN_FREE_BYTES = 4 * 1024 ** 3

/** Returns where short runs have their files: in memory if there is room, since each commit waits for the disk. */
function findFastFolder(): string {
  if (isLong) return tmpdir()
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER)
    return bavail * bsize < MIN_FREE_BYTES ? tmpdir() : MEMORY_FOLDER
  } catch {
    return tmpdir()
  }
}
