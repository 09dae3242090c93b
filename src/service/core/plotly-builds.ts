/** Chooses the build of plotly.js for a chart: it is compiled in each frame, and most charts need a quarter of it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildPath } from '../../contract/build-path.ts'

interface PlotlyBuild {
  /** Name of the asset. */
  name: string
  /** Trace types that it draws; undefined: all. */
  types?: readonly string[]
}

/** Builds with fewer trace types, smallest first. The build of Gridline writes the file. */
let smaller: PlotlyBuild[] | undefined

/** Returns the smallest build of plotly.js that draws traces of these types. */
export function choosePlotlyBuild(needed: readonly string[]): PlotlyBuild {
  smaller ??= (
    JSON.parse(readFileSync(join(buildPath('assets'), 'plotly-bundles.json'), 'utf8')) as [string, string[]][]
  ).map(([name, types]) => ({ name: `bundle-${name}.js`, types }))
  return smaller.find(({ types }) => needed.every((type) => types!.includes(type))) ?? { name: 'plotly.js' }
}
