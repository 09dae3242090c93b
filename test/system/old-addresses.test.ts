// Addresses and embed blocks of Chart Studio, in pages of another site, with nothing but the host replaced.
import { beforeAll, describe, expect, it } from 'vitest'
import { inBrowser, nothing, type Visit } from '../support/browser.ts'

describe('old addresses', () => {
  const site = inBrowser()
  let open: string
  let hidden: string
  let key: string
  beforeAll(async () => {
    const { test } = site()
    const make = async (filename: string, world_readable: boolean): Promise<string> => {
      const figure = { data: [{ type: 'bar', y: [1, 3, 2] }], layout: { title: { text: filename } } }
      const { json } = await test.ask('alice', 'POST', '/v2/plots', {
        json: { figure, filename, world_readable, raw_data: 'grid' },
      })
      return json.file.fid.split(':')[1]
    }
    open = await make('open', true)
    hidden = await make('hidden', false)
    const json = { share_key_enabled: true }
    key = (await test.ask('alice', 'PATCH', `/v2/files/alice:${hidden}`, { json })).json.share_key
  })

  /** Follows redirects. Returns the last status and path. */
  const follow = async (path: string): Promise<string> => {
    const response = await fetch(site().url + path, { headers: { accept: 'text/html' } })
    const { pathname, search } = new URL(response.url)
    const body = await response.text()
    return `${response.status} ${pathname}${search}${response.status === 410 ? ` ${/<p>(.*?)<\/p>/.exec(body)?.[1]}` : ''}`
  }

  it('links in every old form lead to the page of the file', async () => {
    const page = `200 /~alice/${open}/`
    for (const form of ['', '/', '/_10th-percentile-median/', '/converting-a-mesh', '/caf%C3%A9%20%2F%20x/'])
      expect([form, (await follow(`/~alice/${open}${form}`)).replace(/([^/])$/, '$1/')]).toEqual([form, page])
    expect(await follow(`/%7Ealice/${open}/a-title/`)).toBe(page)
    expect(await follow(`/create?fid=alice:${open}`)).toBe(page)
    expect(await follow(`/create/?fid=alice:${open}&share_key=x`)).toBe(`${page}?share_key=x`)
    expect(await follow(`/~alice/${hidden}/title/?share_key=${key}`)).toBe(
      `200 /~alice/${hidden}/?share_key=${key}`,
    )
    expect(await follow(`/~alice/${hidden}/title/`)).toBe(`404 /~alice/${hidden}/`)
    for (const start of ['/feed/', '/plot', '/create', '/create?fid=//evil.example', '/create?fid=a/b:1'])
      expect([start, await follow(start)]).toEqual([start, '200 /'])
    expect(await follow('/~alice/')).toMatch(/^200/)
  })

  it('addresses that are not offered return 410 with the reason', async () => {
    expect(await follow(`/~alice/${open}.eps`)).toBe(`410 /~alice/${open}.eps Images in EPS are not offered.`)
    for (const ending of ['py', 'r', 'm', 'jl', 'js'])
      expect(await follow(`/~alice/${open}.${ending}`)).toContain('410')
    expect(await follow('/dashboard/alice:44/view')).toContain('Dashboards are not offered')
    expect(await follow('/static/fonts/x.woff')).toContain('410')
    const { status, json } = await site().test.ask(undefined, 'GET', '/dashboard/alice:44/view')
    expect([status, json.errors[0].code]).toEqual([410, 'gone'])
  })

  /** Writes a block as the share dialog of Chart Studio did. */
  const block = (fid: string, shareKey?: string, base = site().url): string => {
    const [owner, id] = fid.split(':')
    const query = shareKey ? `?share_key=${shareKey}` : ''
    return `<div>
    <a href="${base}/~${owner}/${id}/${query}" target="_blank" title="Plot ${id}" style="display: block; text-align: center;"><img src="${base}/~${owner}/${id}.png${query}" alt="Plot ${id}" style="max-width: 100%;width: 600px;" width="600" onerror="this.onerror=null;this.src='${base}/404.png';" /></a>
    <script data-plotly="${fid}" ${shareKey ? `sharekey-plotly="${shareKey}"` : ''} src="${base}/embed.js" async></script>
</div>`
  }
  const host = async (html: string, policy?: string): Promise<Visit> => {
    const meta = policy ? `<meta http-equiv="content-security-policy" content="${policy}">` : ''
    site().elsewhere.pages.set(
      '/post',
      `<!doctype html><meta charset="utf-8">${meta}<title>post</title><body>${html}`,
    )
    return site().visit(`${site().elsewhere.url}/post`, { width: 900 })
  }
  /** For each block: whether its frame and its link are visible, and the width of the frame. */
  const blocks = (visit: Visit): Promise<{ frame: number; link: boolean }[]> =>
    visit.page.$$eval('div', (divs) =>
      divs.map((div) => {
        const frame = div.querySelector('iframe')
        const isVisible = frame !== null && getComputedStyle(frame).visibility === 'visible'
        const link = div.querySelector('a')
        return {
          frame: isVisible ? Math.round(frame.getBoundingClientRect().width) : 0,
          link: link !== null && getComputedStyle(link).display !== 'none',
        }
      }),
    )
  const untilDrawn = async (visit: Visit, count: number): Promise<void> => {
    await visit.page.waitForFunction(
      (wanted) =>
        [...document.querySelectorAll('iframe')].filter(
          (frame) => getComputedStyle(frame).visibility === 'visible',
        ).length >= wanted,
      { timeout: 60_000 },
      count,
    )
  }

  it('pictures of old blocks become live charts in the width of their column, once each', async () => {
    const html = [
      block(`alice:${open}`),
      block(`alice:${open}`).replaceAll('/~', '/%7E'),
      block(`alice:${hidden}`, key),
      block(`alice:${hidden}`),
      block('alice:x"><b>').replace('embed.js"', 'embed.js?again"'),
    ].join('<p>text</p>')
    const visit = await host(`<main style="width: 700px">${html}</main>`)
    await untilDrawn(visit, 3)
    const seen = await blocks(visit)
    expect(seen.slice(0, 3)).toEqual(Array(3).fill({ frame: 700, link: false }))
    // A private chart without a key: its picture and link stay, and say so.
    expect(seen.slice(3)).toEqual(Array(2).fill({ frame: 0, link: true }))
    expect(await visit.page.$$eval('iframe', (frames) => frames.length)).toBe(4)
    await visit.page.setViewport({ width: 500, height: 900 })
    await visit.page.$eval('main', (main) => {
      main.style.width = '400px'
    })
    await visit.page.waitForFunction(() => document.querySelector('iframe')!.clientWidth === 400)
    await site().screenshot(visit, 'old-blocks')
    await visit.close()
  })

  it('blocks work under a strict content security policy, and stay pictures where scripts are blocked', async () => {
    const { url } = site()
    const strict = await host(
      block(`alice:${open}`),
      `default-src 'none'; script-src ${url}; frame-src ${url}; img-src ${url}`,
    )
    await untilDrawn(strict, 1)
    // The attributes of the old block have inline code, which this policy blocks. The script has none.
    expect(strict.seen.violations.filter((text) => !/^(style-src-attr|script-src-attr)/.test(text))).toEqual(
      [],
    )
    await strict.close()
    const blocked = await host(
      block(`alice:${open}`),
      "default-src 'none'; img-src *; style-src 'unsafe-inline'",
    )
    expect(await blocks(blocked)).toEqual([{ frame: 0, link: true }])
    await blocked.close()
  })

  it('frames of old pages show the chart alone, in every form', async () => {
    const { url } = site()
    const forms = ['.embed?link=false', '/550/550', '/640/480/', '', '.embed?autosize=true']
    const frames = forms.map(
      (form) => `<iframe src="${url}/~alice/${open}${form}" seamless width="100%" height="300"></iframe>`,
    )
    const visit = await host(frames.join(''))
    for (let tries = 0; tries < 600; tries++) {
      const drawn = await Promise.all(
        visit.page.frames().map((frame) => frame.$('#chart[data-drawn="true"]').catch(() => null)),
      )
      if (drawn.filter(Boolean).length === forms.length) break
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const shown = visit.page.frames().map((frame) => new URL(frame.url()).pathname)
    expect(shown.slice(1)).toEqual(forms.map(() => `/~alice/${open}.embed`))
    await visit.close()
  })

  it('blocks in odd pages: several in one element, scripts at the end, inline elements', async () => {
    const withoutScript = (html: string): [string, string] => {
      const [script] = /<script[\s\S]*<\/script>/.exec(html)!
      return [html.replace(script, ''), script]
    }
    const [picture, script] = withoutScript(block(`alice:${hidden}`, key))
    const inline = block(`alice:${open}`).replace('<div>', '<div><span>').replace('</div>', '</span></div>')
    const visit = await host(`<main style="width: 600px">${picture}<p>text</p>${inline}</main>${script}`)
    await untilDrawn(visit, 2)
    expect(await blocks(visit)).toEqual(Array(2).fill({ frame: 600, link: false }))
    await visit.close()
  })

  it('only the frame of a block can replace its picture', async () => {
    const visit = await host(
      `${block(`alice:${hidden}`)}<script>for (const to of [window]) to.postMessage({ type: 'gridline:drawn', height: 9000 }, '*')</script>`,
    )
    await visit.page.waitForSelector('iframe')
    await visit.page.evaluate(() => window.postMessage({ type: 'gridline:drawn', height: 9000 }, '*'))
    expect(await blocks(visit)).toEqual([{ frame: 0, link: true }])
    await visit.close()
  })

  it('the block on the page of a plot works as it is', async () => {
    const page = await site().visit(`/~alice/${open}/`)
    const text = await page.page.$eval('#embed-block', (element) => element.textContent ?? '')
    expect(page.seen).toEqual(nothing)
    await page.close()
    const visit = await host(text)
    await untilDrawn(visit, 1)
    expect(visit.seen.hits).toEqual([])
    await visit.close()
  })
})
