/**
 * Writes attributes.ts from the plot schemas of plotly.js releases, fetched with npm:
 *
 *   node src/service/plots/attributes.generate.js
 *
 * Several releases, because figures outlive them: trace types and attributes that were dropped since
 * still hold data. An attribute holds data where its valType is `data_array` or it is `arrayOk`; those
 * were the ones with a twin ending in `src` as long as the schema listed these (before release 4).
 * Items of arrays of objects (`dimensions`, `transforms`) had none.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const releases = ['1.58.5', '2.35.3', '3.7.0', '4.1.1']

function dataPaths(attributes, prefix = '') {
  return Object.entries(attributes).flatMap(([name, attribute]) => {
    if (typeof attribute !== 'object' || attribute === null || name === '_deprecated') return []
    if (attribute.valType === 'data_array' || attribute.arrayOk === true) return [prefix + name]
    if (attribute.valType !== undefined || attribute.items !== undefined) return []
    return dataPaths(attribute, `${prefix}${name}.`)
  })
}

const byType = new Map()
const folder = mkdtempSync(join(tmpdir(), 'plot-schema-'))
try {
  for (const release of releases) {
    const packed = execFileSync('npm', ['pack', '--silent', `plotly.js@${release}`], {
      cwd: folder,
      encoding: 'utf8',
    })
    execFileSync('tar', ['xzf', packed.trim(), 'package/dist/plot-schema.json'], { cwd: folder })
    const schema = JSON.parse(readFileSync(join(folder, 'package/dist/plot-schema.json'), 'utf8'))
    for (const [type, { attributes }] of Object.entries(schema.traces)) {
      if (!byType.has(type)) byType.set(type, new Set())
      for (const path of dataPaths(attributes)) byType.get(type).add(path)
    }
  }
} finally {
  rmSync(folder, { recursive: true })
}

const types = [...byType.keys()].sort()
const common = [...byType.get('scatter')].filter(
  (path) => types.filter((type) => byType.get(type).has(path)).length > types.length * 0.8,
)
const lines = types.map((type) => {
  const paths = [...byType.get(type)].filter((path) => !common.includes(path))
  const without = common.filter((path) => !byType.get(type).has(path)).map((path) => `-${path}`)
  return `  ${type}: '${[...paths, ...without].sort().join(' ')}',`
})
writeFileSync(
  new URL('attributes.ts', import.meta.url),
  `/**
 * Attributes of traces that hold data, by trace type. Written by attributes.generate.js from the plot
 * schemas of plotly.js ${releases.join(', ')} (MIT licence, © Plotly Technologies Inc.).
 */

/** Those of nearly every type. */
export const common = '${common.sort().join(' ')}'

/** What each type has besides; with a minus what of the common ones it has not. */
export const byType: Record<string, string> = {
${lines.join('\n')}
}
`,
)
