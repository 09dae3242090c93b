/** Transform `zone`: converts times to a time zone. */

import { parseInstant } from '../../json/index.ts'
import type { Attributes } from '../figure/figure.ts'
import { resolveTarget, setAtPath, type Transform } from './attributes.ts'

/** Matches a time with an offset from UTC, which is not longer. */
const TIME_WITH_OFFSET = /[T ]\d\d:\d\d.*(?:Z|[+-]\d\d(?::?\d\d)?)$/i
const MAX_TIME_CHARACTERS = 64
/** Cache interval: offsets change only at quarters of an hour. */
const OFFSET_STEP_MS = 900_000

/** Converts times with an offset to local times of a zone such as `Europe/Oslo`. Others are unchanged. */
export function convertToZone(trace: Attributes, transform: Transform): void {
  const { target = 'x', zone: name }: Transform = transform
  const values = resolveTarget(trace, target)
  const offset = typeof name === 'string' ? createOffsetLookup(name) : undefined
  if (!values || !offset || typeof target !== 'string') return
  const local = (value: unknown): unknown => {
    if (!hasOffset(value)) return value
    const time = parseInstant(value)
    if (Number.isNaN(time)) return value
    if (isRepeated(time, offset)) repeated++
    const date = new Date(Math.round(time + offset(time)))
    return date.toISOString().slice(0, -1).replace('T', ' ')
  }
  let repeated = 0
  setAtPath(trace, target, values.map(local))
  if (repeated > 0)
    transform.unseen = [repeated, 'row', 'of an hour that clocks show twice: drawn with the hour before']
}

/** Returns whether a value is a time with an offset from UTC. */
export function hasOffset(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TIME_CHARACTERS && TIME_WITH_OFFSET.test(value)
}

/** Time around a change of clocks in which hours are shown twice. */
const CHANGE_MS = 3 * 3600_000

/** Returns whether the clocks of a zone have shown this time before, since they were set back. */
function isRepeated(time: number, offset: (time: number) => number): boolean {
  const before = offset(time - CHANGE_MS)
  return before > offset(time) && offset(time + offset(time) - before) === before
}

/** Creates a function that returns a zone's offset from UTC, in ms; undefined for an unknown zone. */
function createOffsetLookup(name: string): ((time: number) => number) | undefined {
  let clock: Intl.DateTimeFormat
  try {
    clock = new Intl.DateTimeFormat('en', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return undefined
  }
  const cache = new Map<number, number>()
  return (time) => {
    const step = Math.floor(time / OFFSET_STEP_MS)
    let offset = cache.get(step)
    if (offset === undefined) {
      const parts = Object.fromEntries(
        clock.formatToParts(step * OFFSET_STEP_MS).map(({ type, value }) => [type, Number(value)]),
      )
      const { year, month, day, hour, minute, second } = parts
      offset = Date.UTC(year, month - 1, day, hour, minute, second) - step * OFFSET_STEP_MS
      cache.set(step, offset)
    }
    return offset
  }
}
