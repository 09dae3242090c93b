// Themes: built in, in files, and in the settings.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { listBuiltInThemes } from '../../src/charts/figure/themes.ts'
import { listContrastWarnings } from '../../src/cli/charts/template.ts'
import { gridline } from '../support/cli.ts'
import { itLong } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

const file = (name: string, content: string): string => {
  const path = join(folder.path, name)
  writeFileSync(path, content)
  return path
}
const run = (...args: string[]) => gridline(args, { home: join(folder.path, 'home'), cwd: folder.path })
const template = async (plot: string) => JSON.parse((await run('plot', 'data', plot)).stdout).layout

it.each(listBuiltInThemes().map(({ name }) => name))(
  'theme %s has attributes of plotly.js and colors with enough contrast',
  async (name) => {
    const { code, stdout } = await run('theme', 'check', name, '--json', 'name,warnings')
    expect([code, JSON.parse(stdout)]).toEqual([0, { name, warnings: [] }])
  },
)

describe('--theme', () => {
  it('--theme is stored in the chart, and kept when its data is replaced', async () => {
    file('sales.csv', 'day,n\n2024-01-01,1\n2024-01-02,2\n')
    await run('upload', 'sales.csv', '--plot', 'line', '--theme', 'newsroom')
    const before = await template('sales line')
    expect([before.meta.theme, before.template.layout.paper_bgcolor]).toEqual(['newsroom', '#f8f4ea'])
    expect((await run('plot', 'options', 'sales line')).stdout).toContain('--theme newsroom')
    file('sales.csv', 'day,n\n2024-01-01,1\n2024-01-02,3\n')
    await run('upload', 'sales.csv', '--plot', 'line', '--on-conflict', 'replace')
    expect(await template('sales line')).toEqual(before)
    await run('plot', 'set', 'sales line', '--theme', 'gridline')
    expect(await template('sales line')).toMatchObject({ meta: { theme: 'gridline' } })
    expect((await template('sales line')).template).toEqual({})
    expect((await run('plot', 'options', 'sales line')).stdout).toContain('--theme gridline')
  })

  itLong('--theme can be a file; the theme of the settings applies to new charts only', async () => {
    const mine = file(
      'house.json',
      '{"layout": {"colorway": ["#004488"]}, "dark": {"layout": {"colorway": ["#88bbff"]}}}',
    )
    expect((await run('config', 'set', 'theme', 'house.json')).code).toBe(0)
    expect((await run('config', 'get', 'theme')).stdout).toContain(mine)
    file('other.csv', 'day,n\n2024-01-01,1\n2024-01-02,2\n')
    await run('upload', 'other.csv', '--plot', 'line')
    expect((await template('other line')).template.layout.colorway).toEqual(['#004488'])
    await run('plot', 'set', 'sales line', '--title', 'Sales')
    expect((await template('sales line')).template).toEqual({})
    await run('config', 'unset', 'theme')
  })
})

it.each([
  ['nothing.json', undefined, 3, 'no such file'],
  ['newsrom', undefined, 2, 'Did you mean newsroom?'],
  ['list.json', '[]', 7, 'expected an object'],
  ['broken.json', '{', 7, 'is not a theme'],
  ['figure.json', '{"layout": {"title": "x"}, "frames": []}', 7, 'unknown member frames'],
  ['large.json', `{"layout": {"font": {"family": "${'x'.repeat(200_000)}"}}}`, 7, 'expected up to'],
  ['unknown.json', '{"layout": {"colourway": ["red"]}}', 7, 'Did you mean colorway?'],
  ['type.json', '{"data": {"lines": [{}, {"x": 1}]}}', 7, 'unknown trace type'],
  ['color.json', '{"layout": {"paper_bgcolor": "#12"}}', 7, 'is not a color'],
])('theme %s is refused with the reason', async (name, content, code, message) => {
  if (content !== undefined) file(name, content)
  const done = await run('theme', 'check', name)
  expect([done.code, done.stderr]).toEqual([code, expect.stringContaining(message)])
  expect(existsSync(join(folder.path, 'made'))).toBe(false)
})

it('theme check lists colors with too little contrast to their background', () => {
  const warnings = listContrastWarnings({
    layout: { colorway: ['#ffee00', '#004488'], font: { color: '#999999' } },
  })
  expect(warnings).toEqual([
    'color #ffee00 has a contrast of 1.2 with #ffffff; use at least 3',
    'text #999999 has a contrast of 2.8 with #ffffff; use at least 4.5',
  ])
})
