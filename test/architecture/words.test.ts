// Rules of language (CONTRIBUTING.md) that a test can check.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => `src/${path}`)
const linesOf = (path: string): string[] => readFileSync(join(root, path), 'utf8').split('\n')

/** Returns the lines of all source files that match, as `path:line text`. */
function findLines(pattern: RegExp): string[] {
  return sources.flatMap((path) =>
    linesOf(path).flatMap((line, k) => (pattern.test(line) ? [`${path}:${k + 1} ${line.trim()}`] : [])),
  )
}

describe('words', () => {
  it('bounds are named MAX_ or MIN_', () => {
    expect(
      findLines(/\bconst [A-Z_]*\b(?:MOST|LONGEST|LARGEST|LEAST|FEWEST|SMALLEST|PATIENCE)[A-Z_]*\b/),
    ).toEqual([])
  })

  it('constants with a docstring in ms or in bytes have the unit in their names', () => {
    const wrong = sources.flatMap((path) => {
      const lines = linesOf(path)
      return lines.flatMap((line, k) => {
        const unit = /^\/\*\* .*, in (ms|bytes)[.:;, ].*\*\/$/.exec(line)?.[1]
        const name = /^(?:export )?const ([A-Z][A-Z0-9_]*) = [\d_]+/.exec(lines[k + 1] ?? '')?.[1]
        const isNamed = !unit || !name || name.split('_').includes(unit.toUpperCase())
        return isNamed ? [] : [`${path}:${k + 2} ${name}`]
      })
    })
    expect(wrong).toEqual([])
  })

  it('docstrings do not begin with a relative clause', () => {
    expect(findLines(/^\s*\/\*\* (?:What|That of|Those that|The one that|Who) /)).toEqual([])
  })

  it('every source file begins with what it is for', () => {
    const silent = sources.filter(
      (path) => !path.startsWith('src/vendor/') && !/^(?:\/[/*]|#!)/.test(linesOf(path)[0] ?? ''),
    )
    expect(silent).toEqual([])
  })

  it('values have names of the field', () => {
    expect(findLines(/\b(?:const|let) (?:given_|told|said|twin|letGo|mend|alone_)\b/)).toEqual([])
  })
})
