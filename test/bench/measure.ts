/** Measures memory and CPU time for benchmarks. */
import type { ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
}

/** Returns the memory of a process, in MB: current (`VmRSS`) or peak (`VmHWM`). NaN without /proc. */
export function residentMegabytes({ pid }: ChildProcess, field: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024
  } catch {
    return Number.NaN
  }
}

/** Returns the CPU time of a process, in ms, in steps of 10. NaN without /proc. */
export function cpuMs({ pid }: ChildProcess): number {
  try {
    // The name of the process, in parentheses, may contain blanks.
    const [, rest] = /.*\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))!
    const [user, system] = rest.split(' ').slice(11, 13).map(Number)
    return (user + system) * 10
  } catch {
    return Number.NaN
  }
}

/** Arguments for Node with which a process reports its peak memory at its end, and the report, in MB. */
export function peakReport(folder: string): { nodeArguments: string[]; read: () => number } {
  const report = join(folder, 'peak.txt')
  const probe = join(folder, 'peak.cjs')
  writeFileSync(
    probe,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(report)}, String(process.resourceUsage().maxRSS)))`,
  )
  return {
    nodeArguments: ['--require', probe],
    read: () => Number(readFileSync(report, 'utf8')) / 1024,
  }
}
