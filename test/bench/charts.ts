/** Benchmarks of images and pages of plots. */
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import puppeteer, { type Browser } from 'puppeteer-core'
import { findChromium } from '../../src/draw/find-chromium.ts'
import type { Row } from './faults.ts'
import { median } from './measure.ts'
import type { Server } from './server.ts'

const ROUNDS = 9

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

function row(what: string, ms: number, aim: string, theirs = '', ratio = ''): Row {
  return { what, ours: `${Math.round(ms * 10) / 10} ms`, theirs, ratio, atLeast: aim }
}

async function bytesOf(response: Response): Promise<Uint8Array> {
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return new Uint8Array(await response.arrayBuffer())
}

const post = (server: Server, path: string, json: object): Promise<Uint8Array> =>
  fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: server.authorization, 'content-type': 'application/json' },
    body: JSON.stringify(json),
  }).then(bytesOf)

/** A chart of a million rows: grouped and summed, again, and when a row more is appended. */
export async function grouped(serve: () => Promise<Server>, command: string, csv: string): Promise<Row[]> {
  const server = await serve()
  const run = (...args: string[]): string =>
    execFileSync(process.execPath, [command, ...args], {
      env: { ...process.env, ...server.env },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  try {
    const chart = '--plot bar --x city --y amount --aggregate sum --public --json'.split(' ')
    const [plot] = JSON.parse(run('upload', csv, '--name', 'grouped', ...chart))
    // As on the page of the plot.
    const path = `/~${plot.fid.replace(':', '/')}.embed?live=events`
    const figure = { data: [{ type: 'bar', y: [1, 2] }], layout: { title: { text: 'other' } } }
    const made = await post(server, '/v2/plots', { figure, world_readable: true, raw_data: 'grid' })
    const other = `/~${JSON.parse(Buffer.from(made).toString()).file.fid.replace(':', '/')}.embed`
    return await inChromium(async (browser) => {
      const page = await browser.newPage()
      const drawn = (address: string): Promise<number> =>
        timed(async () => {
          await page.goto(server.url + address)
          await page.waitForSelector('[data-drawn="true"]')
        })
      // A browser with cached scripts.
      await drawn(other)
      const first = await drawn(path)
      const again = await drawn(path)
      // The sum over all cities, as plotly.js has it.
      const sum = `document.getElementById('chart').calcdata[0].reduce((sum, { s }) => sum + s, 0)`
      const live: number[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const before = await page.evaluate(sum)
        live.push(
          await timed(async () => {
            const rows = [[1_000_000 + round, '2024-01-01T00:00:00', 'Oslo', 1, 1000, 'x']]
            await post(server, `/v2/grids/${plot.grid_fid}/row`, { rows })
            await page.waitForFunction(`${sum} !== ${before}`, { polling: 20 })
          }),
        )
      }
      return [
        row('1 M rows grouped and summed, until drawn', first, '≤ 1000 ms'),
        row('the same page again', again, '≤ 300 ms'),
        row('a row appended to them, until the open page shows it', median(live), '≤ 1000 ms'),
      ]
    })
  } finally {
    await server.stop()
  }
}

export async function charts(serve: () => Promise<Server>): Promise<Row[]> {
  const rows: Row[] = []
  let count = 0
  const figure = (type: string, points: number) => ({
    data: [{ type, mode: 'markers', y: Array.from({ length: points }, (_, k) => Math.sin(k) * k) }],
    layout: { title: { text: `figure ${count++}` } },
  })
  const get = (server: Server, path: string): Promise<Uint8Array> =>
    fetch(server.url + path, { headers: { authorization: server.authorization } }).then(bytesOf)
  const create = async (server: Server, json: object): Promise<string> =>
    JSON.parse(Buffer.from(await post(server, '/v2/plots', { figure: json, raw_data: 'grid' })).toString())
      .file.fid

  const cold: number[] = []
  for (let round = 0; round < 3; round++) {
    const server = await serve()
    cold.push(await timed(() => post(server, '/v2/images', { figure: figure('scatter', 100) })))
    await server.stop()
  }
  rows.push(row('first image of a cold process', median(cold), '≤ 2500 ms'))

  const server = await serve()
  try {
    const draw = async (type: string, points: number): Promise<number> => {
      const times: number[] = []
      for (let round = 0; round <= ROUNDS; round++)
        times.push(await timed(() => post(server, '/v2/images', { figure: figure(type, points) })))
      return median(times.slice(1))
    }
    rows.push(row('2-D image, warm', await draw('scatter', 100), '≤ 50 ms'))
    rows.push(row('WebGL image, warm', await draw('scattergl', 10_000), '≤ 1200 ms'))

    const fid = await create(server, figure('scatter', 100))
    await get(server, `/v2/files/${fid}/image`)
    const cached: number[] = []
    for (let round = 0; round < 50; round++)
      cached.push(await timed(() => get(server, `/v2/files/${fid}/image`)))
    rows.push(row('the same image again', median(cached), '≤ 5 ms'))

    const wide = {
      data: Array.from({ length: 20 }, (_, t) => ({
        type: 'scatter',
        y: Array.from({ length: 10_000 }, (_, k) => k * t + 0.5),
      })),
    }
    const inlined = `/v2/plots/${await create(server, wide)}/content?inline_data=true`
    const whole = await get(server, inlined)
    const site = createServer((_, response) => response.end(whole)).listen(0, '127.0.0.1')
    await new Promise((resolve) => site.once('listening', resolve))
    const fixed = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`
    const [ours, theirs]: number[][] = [[], []]
    for (let round = 0; round <= ROUNDS; round++) {
      ours.push(await timed(() => get(server, inlined)))
      theirs.push(await timed(() => fetch(fixed).then(bytesOf)))
    }
    site.close()
    const [a, b] = [median(ours.slice(1)), median(theirs.slice(1))]
    rows.push(
      row(
        '20 traces × 10,000 points inlined, against a static file',
        a,
        '≥ 0.5',
        `${b.toFixed(1)} ms`,
        (b / a).toFixed(2),
      ),
    )

    const large = await create(server, figure('scattergl', 100_000))
    const path = `/~${large.replace(':', '/')}.embed`
    rows.push(row('page of 100,000 points, until drawn', await firstDraw(server, path), '≤ 1000 ms'))
    const small = await create(server, figure('scatter', 10_000))
    const page = `/~${small.replace(':', '/')}.embed`
    rows.push(row('page of 10,000 points, until drawn', await firstDraw(server, page), '≤ 800 ms'))
  } finally {
    await server.stop()
  }
  return rows
}

/** Returns the time until an embedded chart is drawn with cached scripts, in ms. */
async function firstDraw(server: Server, path: string): Promise<number> {
  return inChromium(async (browser) => {
    const times: number[] = []
    for (let round = 0; round <= 3; round++) {
      const page = await browser.newPage()
      await page.setExtraHTTPHeaders({ authorization: server.authorization })
      times.push(
        await timed(async () => {
          await page.goto(server.url + path)
          await page.waitForSelector('[data-drawn="true"]')
        }),
      )
      await page.close()
    }
    return median(times.slice(1))
  })
}

async function inChromium<T>(work: (browser: Browser) => Promise<T>): Promise<T> {
  const { path: executablePath, env, args = [] } = await findChromium(process.env.GRIDLINE_CHROMIUM)
  const browser = await puppeteer.launch({
    executablePath,
    env: { ...process.env, ...env },
    args: [
      ...args,
      '--no-sandbox',
      '--use-gl=angle',
      '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader',
    ],
    headless: 'shell',
    pipe: true,
  })
  try {
    return await work(browser)
  } finally {
    await browser.close()
  }
}
