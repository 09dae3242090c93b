/** Compares a build with yesterday's, and each row with its best build of 30 days. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { buildCommit, buildWorkTree, type Comparison, compareBuilds } from './compare.ts'

/** One night. `indexes`: processor time by row, divided by that row's time in the first night. */
interface Night {
  /** Time of the run, in ms since 1970. */
  at: number
  commit: string
  indexes: Record<string, number>
}

const KEPT_MS = 30 * 24 * 3600 * 1000
/** Ratio to the best build of 30 days above which the night fails. */
const MAX_RATIO = 1.1

/**
 * Prints each row, or those of these names, against the last night and against the best of 30 days, both measured now, and adds the night
 * to the history. Returns whether no row is surely slower than its best by more than a tenth.
 */
export async function compareNight(
  root: string,
  place: string,
  historyFile: string,
  names: readonly string[],
): Promise<boolean> {
  const nights = (existsSync(historyFile) ? JSON.parse(readFileSync(historyFile, 'utf8')) : []) as Night[]
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim()
  const recent = nights.filter(({ at }) => at > Date.now() - KEPT_MS)
  const current = buildWorkTree(root)
  const last = recent.at(-1)
  const results = await compareBuilds(
    [buildCommit(root, place, last?.commit ?? commit), current],
    place,
    names,
  )
  // A row that is new tonight begins with 1.
  const indexes = Object.fromEntries(
    results.map(({ row, cpuRatio }) => [
      row,
      (last?.indexes[row] ?? 1) * (last?.indexes[row] ? cpuRatio[0] : 1),
    ]),
  )
  let isFast = true
  for (const [best, rows] of groupRowsByBest(recent, results)) {
    const againstBest = await compareBuilds([buildCommit(root, place, best), current], place, rows)
    for (const { row, cpuMs, cpuRatio, verdict } of againstBest) {
      const yesterday = results.find((result) => result.row === row)!.cpuRatio[0]
      const isSlow = verdict === 'slower' && cpuRatio[0] > MAX_RATIO
      console.log(
        `${isSlow ? 'SLOW ' : ''}${row}  CPU ${cpuMs[1].toPrecision(3)} ms  ×${yesterday.toFixed(2)} yesterday  ×${cpuRatio[0].toFixed(2)} best of 30 days (${best.slice(0, 8)})`,
      )
      if (isSlow) isFast = false
    }
  }
  writeFileSync(historyFile, `${JSON.stringify([...recent, { at: Date.now(), commit, indexes }])}\n`)
  return isFast
}

/** Returns the commit of the night with the lowest index of each row, with its rows. */
function groupRowsByBest(nights: readonly Night[], results: readonly Comparison[]): Map<string, string[]> {
  const rowsByBest = new Map<string, string[]>()
  for (const { row } of results) {
    const known = nights.filter(({ indexes }) => indexes[row] !== undefined)
    if (known.length === 0) continue
    const best = known.reduce((lowest, night) => (night.indexes[row] < lowest.indexes[row] ? night : lowest))
    rowsByBest.set(best.commit, [...(rowsByBest.get(best.commit) ?? []), row])
  }
  return rowsByBest
}
