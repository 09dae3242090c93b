// An exported site: from disk, from a file server, inside pages of another host, without scripts, twice.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, relative } from 'node:path'
import type { Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inBrowser, openPage } from '../support/browser.ts'
import { gridline } from '../support/cli.ts'
import { itLong } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
const directory = join(folder.path, 'site')
let files: Server
let url: string
beforeAll(async () => {
  const types: Record<string, string> = {
    html: 'text/html',
    js: 'text/javascript',
    png: 'image/png',
    svg: 'image/svg+xml',
  }
  // As plain file servers do: a directory is redirected to its path with a slash, and shows its index.
  files = createServer((request, response) => {
    const [path, query] = request.url!.split('?')
    const file = join(directory, decodeURIComponent(path))
    if (!existsSync(file)) response.writeHead(404).end()
    else if (!statSync(file).isDirectory())
      response
        .setHeader('content-type', types[file.split('.').pop()!] ?? 'text/plain')
        .end(readFileSync(file))
    else if (!path.endsWith('/'))
      response.writeHead(301, { location: `${path}/${query ? `?${query}` : ''}` }).end()
    else response.setHeader('content-type', 'text/html').end(readFileSync(join(file, 'index.html')))
  })
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(files.address() as AddressInfo).port}`
})
afterAll(() => {
  files.close()
  folder.remove()
})

describe('an exported site', () => {
  const site = inBrowser()
  const home = join(folder.path, 'home')
  /** Path of a chart, without an ending. */
  let chart = ''
  const evil = '<script>window.__hit=1</script>'
  const run = (...args: string[]) =>
    gridline(['export', 'site', 'Figures', directory, ...args], { home, env: environment() })
  const environment = (): Record<string, string> => ({
    GRIDLINE_URL: site().url,
    GRIDLINE_USER: 'alice',
    GRIDLINE_API_KEY: site().test.keys.get('alice')!,
  })
  beforeAll(async () => {
    mkdirSync(home)
    const { test } = site()
    await test.ask('alice', 'POST', '/v2/folders', { json: { path: 'Figures', world_readable: true } })
    await test.ask('alice', 'POST', '/v2/folders', { json: { path: 'Figures/Hush' } })
    const place = { parent_path: 'Figures', world_readable: true }
    for (const [filename, name] of [
      ['Sales', 'a'],
      [`"${evil.replace('/', '')}`, evil],
    ]) {
      const figure = {
        data: [{ type: 'bar', x: [name, 'b'], y: [1, 3], text: [evil] }],
        layout: { title: { text: evil } },
      }
      const json = { figure, filename, raw_data: 'grid', ...place }
      const made = await test.ask('alice', 'POST', '/v2/plots', { json })
      chart = `~alice/${made.json.file.fid.split(':')[1]}`
    }
    const [owner, id] = chart.slice(1).split('/')
    const rows = [{ items: [{ plot: `${owner}:${id}` }, { text: evil }] }]
    const board = { content: { settings: { board: { rows } } }, filename: 'Board', ...place }
    await test.ask('alice', 'POST', '/v2/dashboards', { json: board })
    await test.grid('alice', 'Table', { [`city ${evil}`]: ['Oslo', evil], n: [1, 2] }, place)
    await test.grid('alice', 'Inner', { x: [1, 2] }, { ...place, parent_path: 'Figures/Hush' })
    await test.grid('alice', 'Secret', { x: [1, 2] }, { parent_path: 'Figures' })
  })

  /** Opens a page. Returns it, with what it asked other hosts for and what it complained about. */
  const open = async (address: string, hasScripts = true): Promise<{ page: Page; seen: string[] }> => {
    const page = await openPage(site().browser)
    await page.setJavaScriptEnabled(hasScripts)
    const seen: string[] = []
    page.on('request', (request) => {
      if (!/^(file|data|blob):/.test(request.url()) && !request.url().startsWith(url))
        seen.push(request.url())
    })
    page.on('console', (message) => {
      if (message.type() === 'error') seen.push(message.text())
    })
    page.on('pageerror', (error) => seen.push(String(error)))
    await page.goto(address)
    return { page, seen }
  }
  const contents = (): Record<string, string> =>
    Object.fromEntries(
      readdirSync(directory, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .map((file) => [relative(directory, file), readFileSync(file, 'latin1')]),
    )

  it('has public files alone, and the same bytes twice', async () => {
    const first = await run('--title', 'My figures', '--url', 'https://charts.example.com')
    expect(first.code).toBe(0)
    expect(first.stderr).toMatch(
      /1 private file not exported: Figures\/Secret. To export them: --include-private/,
    )
    const before = contents()
    expect(Object.keys(before)).toEqual(
      expect.arrayContaining([
        'index.html',
        'embed.js',
        '404.png',
        '.nojekyll',
        '~alice/index.html',
        '~alice/0/index.html',
      ]),
    )
    for (const hidden of ['Secret', 'Hush']) expect(JSON.stringify(before)).not.toContain(hidden)
    expect(before['index.html']).toContain('Inner')
    // From disk, a link to a folder would show its files.
    for (const [path, text] of Object.entries(before))
      for (const [, href] of text.matchAll(/<a href="(\.\.\/[^"]*)"/g))
        expect(before).toHaveProperty([join(path, '..', decodeURIComponent(href))])
    const second = await run('--title', 'My figures', '--url', 'https://charts.example.com', '--json')
    expect(JSON.parse(second.stdout)).toMatchObject({ files: 7, written: 0, removed: 0 })
    expect(contents()).toEqual(before)
    const all = await run('--include-private')
    expect([all.code, all.stderr]).toEqual([
      2,
      expect.stringMatching(/1 private file in the site: .*Secret.*--yes/s),
    ])
  })

  it('works from disk: the list with its search, charts, tables, and charts without scripts', async () => {
    const { page, seen } = await open(`file://${directory}/index.html`)
    expect(await page.$$eval('li:not([hidden])', (items) => items.length)).toBe(7)
    await page.type('#search', 'SALES 20')
    expect(await page.$$eval('li:not([hidden])', (items) => items.map((item) => item.textContent))).toEqual([
      expect.stringContaining('Sales'),
    ])
    await Promise.all([page.waitForNavigation(), page.click('li:not([hidden]) a')])
    await page.waitForSelector('#chart[data-drawn="true"]')
    expect(await page.$eval('textarea', (area) => area.value)).toContain(
      'src="https://charts.example.com/embed.js"',
    )
    const links = await page.$$eval('.site a[download]', (all) => all.map((link) => link.textContent))
    expect(links).toEqual(['PNG', 'SVG', 'CSV', 'JSON'])
    const back = page.waitForNavigation()
    await page.click('nav a')
    await back
    expect(await page.title()).toBe('My figures')
    expect(seen).toEqual([])
    await page.close()
    const still = await open(`file://${directory}/${chart}/index.html`, false)
    const picture = await still.page.$eval('#picture', (image) => image.getBoundingClientRect().toJSON())
    const about = await still.page.$eval('#about', (line) => line.getBoundingClientRect().toJSON())
    expect([picture.height > 200, picture.bottom <= about.top]).toEqual([true, true])
    await still.page.close()
  })

  itLong('works on a file server and in pages of other hosts, at the paths of the server', async () => {
    for (const path of ['', '/', '.embed?link=false', '.html']) {
      const { page, seen } = await open(`${url}/${chart}${path}`)
      await page.waitForSelector('#chart[data-drawn="true"]')
      expect([path, seen]).toEqual([path, []])
      await page.close()
    }
    const { elsewhere, browser } = site()
    elsewhere.pages.set(
      '/blog',
      `<div style="width: 600px"><a href="${url}/${chart}/"><img src="${url}/${chart}.png" width="600"></a>
      <script data-plotly="${chart.slice(1).replace('/', ':')}" src="${url}/embed.js" async></script></div>`,
    )
    const page = await openPage(browser)
    await page.goto(`${elsewhere.url}/blog`)
    const frame = await page.waitForFrame((one) => one.url().includes('.embed'))
    await frame.waitForSelector('#chart[data-drawn="true"]')
    await page.waitForFunction(
      () => getComputedStyle(document.querySelector('iframe')!).visibility === 'visible',
    )
    await page.close()
  })

  itLong('texts of strangers stay harmless', async () => {
    const pages = Object.keys(contents()).filter((path) => path.endsWith('.html'))
    expect(pages.length).toBeGreaterThan(10)
    for (const path of pages) {
      const { page, seen } = await open(`file://${join(directory, path)}`)
      if (await page.$('#chart')) await page.waitForSelector('#chart[data-drawn]')
      expect([path, await page.evaluate(() => '__hit' in window), seen]).toEqual([path, false, []])
      await page.close()
    }
  })

  it('private files are in it if asked for, and files that are gone are removed', async () => {
    expect((await run('--include-private', '--yes')).code).toBe(0)
    expect(JSON.stringify(contents())).toContain('Secret')
    const after = JSON.parse((await run('--json')).stdout)
    expect(after.removed).toBeGreaterThan(3)
    expect(JSON.stringify(contents())).not.toContain('Secret')
    const verified = await gridline(['export', 'verify', directory], { home })
    expect(verified.stdout).toMatch(/\tsite\t\d+\tunchanged\n$/)
  })
})
