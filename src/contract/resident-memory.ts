// Memory of other processes.
import { readFileSync } from 'node:fs'

/** Returns the resident memory of a process, in bytes; 0 if unknown. */
export function readResidentBytes(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096
  } catch {
    return 0
  }
}
