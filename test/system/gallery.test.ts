// Every type of chart, as a phone and a screen show it: nothing is cut off, no text covers another, and a phone gives the
// plot its width. GRIDLINE_SCREENSHOTS names a folder for the pictures.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { compileChart } from '../../src/charts/compile/compile.ts'
import type { ChartOptions } from '../../src/charts/spec/options.ts'
import { acceptsOption, CHART_TYPES, type ChartType } from '../../src/charts/spec/types.ts'
import { connectRemote } from '../../src/cli/connect/connect.ts'
import { Problem } from '../../src/contract/errors.ts'
import { quoteShellWord } from '../../src/contract/shell.ts'
import { drawFigure } from '../../src/service/index.ts'
import { inBrowser, openPage } from '../support/browser.ts'
import { chartColumns, leastOptions } from '../support/charts.ts'
import { type Example, gallery, tables } from '../support/gallery.ts'
import { isLong, itLong, runs } from '../support/property-runs.ts'

const site = inBrowser()
const pictures = process.env.GRIDLINE_SCREENSHOTS

interface Seen {
  /** Texts that cover each other. */
  covered: string[]
  /** Texts that are cut by the frame. */
  cut: string[]
  /** Series without a visible name. */
  unnamed: string[]
  /** Share of the width used by the plot; undefined for charts without axes. */
  share: number | undefined
}

/** Returns whether no text has moved since the last call, for animated resizing. Runs in the page. */
function isStill(): boolean {
  const places = [...document.querySelectorAll('#chart svg text')].map((text) => {
    const { left, top } = text.getBoundingClientRect()
    return `${left} ${top}`
  })
  const before = document.body.dataset.places
  document.body.dataset.places = places.join()
  return before === document.body.dataset.places
}

/** Measures the boxes of all texts. Runs in the page. */
function measured(): Seen {
  const shown = [...document.querySelectorAll('#chart svg text, #chart .annotation-text')].flatMap((text) => {
    const { left, top, right, bottom, width, height } = text.getBoundingClientRect()
    const style = getComputedStyle(text)
    const isSeen =
      width > 1 &&
      height > 1 &&
      style.visibility !== 'hidden' &&
      style.opacity !== '0' &&
      style.display !== 'none'
    const isText =
      (text.textContent ?? '').trim() !== '' &&
      !text.closest('.hoverlayer, .modebar, .gl-container, #js-plotly-tester, .table')
    return isSeen && isText ? [{ text, name: text.textContent ?? '', left, top, right, bottom }] : []
  })
  const covered: string[] = []
  for (const [k, a] of shown.entries())
    for (const b of shown.slice(k + 1)) {
      if (a.text.contains(b.text) || b.text.contains(a.text)) continue
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left)
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)
      // Boxes of texts are higher than their letters.
      if (across > 2 && down > 5) covered.push(`${a.name} | ${b.name}`)
    }
  const cut = shown
    .filter(
      ({ left, top, right, bottom }) =>
        left < -1 ||
        top < -1 ||
        right > innerWidth + 1 ||
        // A chart higher than its frame is scrolled.
        bottom > document.documentElement.scrollHeight + 1,
    )
    .map(({ name }) => name)
  // biome-ignore lint/suspicious/noExplicitAny: the inner data of plotly.js has no types
  const full = (document.getElementById('chart') as any)._fullLayout
  const texts = shown.map(({ name }) => name)
  const plain = (name: string): string =>
    name.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
  const isIn = (name: string): boolean =>
    texts.some((text) => text === name || (text.endsWith('…') && name.startsWith(text.slice(0, -1).trim())))
  // biome-ignore lint/suspicious/noExplicitAny: the inner data of plotly.js has no types
  const series: any[] = (document.getElementById('chart') as any)._fullData
  const names = series.flatMap(({ name, visible, showlegend, legendgroup, type }) =>
    visible === true && showlegend !== false && /^(?:scatter|bar|box|violin)/.test(type)
      ? [legendgroup || name]
      : [],
  )
  const unnamed =
    full.showlegend || new Set(names).size > 1 ? [...new Set(names)].filter((name) => !isIn(plain(name))) : []
  const share = full._has('cartesian') ? full._size.w / innerWidth : undefined
  return { covered, cut, unnamed, share }
}

it('every type of chart is in the gallery', () => {
  expect(new Set(gallery.map(({ type }) => type))).toEqual(new Set(CHART_TYPES))
})

/** Types whose texts are arranged in different ways. */
const ARRANGED = [
  'line',
  'bar',
  'dot',
  'pie',
  'histogram2d',
  'heatmap',
  'parallel',
  'funnel',
  'choropleth',
  'area',
]
/** One example per type; all examples of all types with `npm run test:long`. */
const examples = gallery.filter(
  ({ type }, k) => isLong || (ARRANGED.includes(type) && gallery.findIndex((one) => one.type === type) === k),
)

/** A chart, and the CSV of its table. */
interface Drawn {
  name: string
  type: ChartType
  csv: string
  options: ChartOptions
}

/** Returns errors of texts by chart and size. `leastShare`: minimum share of the width for the plot on a phone. */
async function faultsOf(charts: readonly Drawn[], leastShare: number): Promise<Record<string, object>> {
  const { test, url, browser } = site()
  const { client, close } = await connectRemote(url, { user: 'alice', apiKey: test.keys.get('alice') })
  const wrong: Record<string, object> = {}
  const grids = new Map<string, string>()
  const page = await openPage(browser)
  for (const [k, { name, type, csv, options }] of charts.entries()) {
    if (!grids.has(csv)) {
      const headers = { 'content-type': 'text/csv', 'x-file-name': `${name} table` }
      const made = await test.ask('alice', 'POST', '/v2/grids/upload', { body: csv, headers })
      grids.set(csv, made.json.file.fid)
    }
    const grid = await client.call('grids.get', { fid: grids.get(csv)! })
    const chart = await compileChart(client, grid, type, options).catch(refusal)
    if (!chart) continue
    const figure = JSON.parse(JSON.stringify(chart))
    const { file } = await test.plot('alice', figure, { world_readable: true, filename: name })
    const [owner, idlocal] = file.fid.split(':')
    await page.setViewport({ width: 1280, height: 720 })
    await page.goto(`${url}/~${owner}/${idlocal}.embed?theme=${k % 2 === 0 ? 'light' : 'dark'}`)
    await page.waitForSelector('#chart[data-drawn=true]')
    for (const [size, width, height] of [
      ['screen', 1280, 720],
      ['tablet', 640, 480],
      ['phone', 360, 480],
    ] as const) {
      if (width !== 1280) {
        await page.setViewport({ width, height })
        await page.waitForFunction(
          (wide) => document.getElementById('chart')?.dataset.width === wide,
          {},
          String(width),
        )
      }
      await page.waitForFunction(isStill, { polling: 30 })
      const { covered, cut, unnamed, share }: Seen = await page.evaluate(measured)
      if (pictures) await page.screenshot({ path: `${pictures}/${name}-${size}.png` })
      if (covered.length + cut.length + unnamed.length > 0)
        wrong[`${name}, ${size}`] = { covered, cut, unnamed }
      // The rows of a heatmap have whole labels.
      const least = type === 'heatmap' ? 0.6 : leastShare
      if (size === 'phone' && share !== undefined && share < least) wrong[`${name}, width`] = { share }
    }
  }
  await close()
  return wrong
}

/** A refused chart draws nothing. */
function refusal(error: unknown): undefined {
  if (!(error instanceof Problem)) throw error
}

itLong('no text of a gallery chart is cut off or covered, on a screen and on a phone', async () => {
  const charts = examples.map(({ table, ...example }) => ({ ...example, csv: tables[table] }))
  expect(await faultsOf(charts, 0.8)).toEqual({})
})

/** Seeded random numbers from 0 to 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const NAMES =
  'Oslo,Rio de Janeiro,Llanfairpwllgwyngyll,Kyoto,Staphylococcus aureus of the north,Staphylococcus aureus of the south,Å,Reykjavík,<b>bold</b>,سلام,2024,São Paulo e região metropolitana'.split(
    ',',
  )

/** Generates a chart of random type, options and table. */
function randomChart(seed: number): Drawn {
  const random = randomOf(seed)
  const below = (most: number): number => Math.floor(random() * most)
  const [rows, names] = [1 + below(40), 1 + below(NAMES.length)]
  const scale = 10 ** (below(12) - 3)
  const number = (): string => (random() < 0.05 ? '' : ((random() - 0.2) * scale).toPrecision(1 + below(5)))
  const day = (k: number): string => new Date(Date.UTC(2023, 0, 1 + k * 9)).toISOString().slice(0, 10)
  const lines = Array.from({ length: rows }, (_, k) =>
    [
      day(k),
      day(k + 1 + below(9)),
      random() < 0.05 ? '' : NAMES[below(names)],
      ...[0, 1, 2, 3].map(number),
    ].join(','),
  )
  const type = CHART_TYPES[below(CHART_TYPES.length)]
  const more = {
    by: 'city',
    facet: 'city',
    aggregate: 'sum',
    horizontal: true,
    stack: 'normal',
    unit: 'kr',
    top: 5,
  } as const
  const options: ChartOptions = { ...leastOptions(type) }
  for (const [name, value] of Object.entries(more) as [keyof typeof more, never][])
    if (acceptsOption(type, name) && random() < 0.25) options[name] = value
  const csv = [chartColumns.map(({ name }) => name).join(','), ...lines, ''].join('\n')
  return { name: `chart ${seed}`, type, csv, options }
}

it('no text of a random chart is cut off or covered, and every series is named', async () => {
  const first = Number(process.env.GRIDLINE_TEST_SEED ?? 1)
  const charts = Array.from({ length: runs(4, 100) }, (_, k) => randomChart(first + k))
  expect(await faultsOf(charts, 0.65)).toEqual({})
})

/** Returns the command of an example. */
function commandOf({ type, table, options }: Example): string {
  const words = Object.entries(options).flatMap(([name, value]) => {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    return value === true ? [flag] : [value].flat().flatMap((one) => [flag, quoteShellWord(String(one))])
  })
  return ['gridline upload', `${table}.csv`, '--plot', type, ...words].join(' ')
}

/** docs/charts.md. */
function page(): string {
  const parts = gallery.map((example) => {
    const { name, type, about } = example
    const image = `![${type}: ${about}](images/charts/${name}.webp)`
    return `### ${name}\n\n${about}\n\n\`\`\`sh\n${commandOf(example)}\n\`\`\`\n\n${image}\n`
  })
  return `${INTRODUCTION}\n${parts.join('\n')}`
}

const INTRODUCTION = `# Charts

Every type of chart that \`--plot\` and \`--type\` make from the columns of a table, with its command. The pictures are drawn by the tests of the repository. Options that all types share, such as \`--where\`, \`--title\` and \`--per\`, are in the [guide](guide.md#create-plots); \`gridline help upload\` lists them all.

The tables are made up, except \`population\` (United Nations, World Population Prospects 2022) and \`reigns\` (kings and queens of Great Britain).
`

const docs = fileURLToPath(new URL('../../docs', import.meta.url))

it('docs/charts.md has a command and an image for each chart', async () => {
  if (process.env.UPDATE_GALLERY) {
    mkdirSync(`${docs}/images/charts`, { recursive: true })
    const { test, url } = site()
    const { client, close } = await connectRemote(url, { user: 'alice', apiKey: test.keys.get('alice') })
    for (const { name, type, table, options } of gallery) {
      const headers = { 'content-type': 'text/csv', 'x-file-name': `${name} ${table}` }
      const made = await test.ask('alice', 'POST', '/v2/grids/upload', { body: tables[table], headers })
      const grid = await client.call('grids.get', { fid: made.json.file.fid })
      const figure = JSON.parse(JSON.stringify(await compileChart(client, grid, type, options)))
      const { file } = await test.plot('alice', figure)
      const query = { inline_data: true }
      const text = await (await client.response('plots.content', { fid: file.fid, query })).text()
      const image = await drawFigure(text, { format: 'webp', width: 720, height: 420 }, process.env)
      writeFileSync(`${docs}/images/charts/${name}.webp`, image)
    }
    writeFileSync(`${docs}/charts.md`, page())
    await close()
  }
  expect(readFileSync(`${docs}/charts.md`, 'utf8')).toBe(page())
  for (const { name } of gallery) expect(existsSync(`${docs}/images/charts/${name}.webp`), name).toBe(true)
})
