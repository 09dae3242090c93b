// Addresses and embed blocks of Chart Studio, in pages of another site, with nothing but the host replaced.
import { beforeAll, describe, expect, it } from 'vitest'
import { inBrowser, nothing, type Visit } from '../support/browser.ts'
import { itLong, runs } from '../support/property-runs.ts'

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
    expect(await follow('/static/fonts/x.woff')).toContain('410')
    const { status, json } = await site().test.ask(undefined, 'GET', '/static/fonts/x.woff')
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

  itLong('pictures of old blocks become live charts in the width of their column, once each', async () => {
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

  itLong('frames of old pages show the chart alone, in every form', async () => {
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

  itLong('blocks in odd pages: several in one element, scripts at the end, inline elements', async () => {
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

  describe('forms of old pages, under policies of their hosts', () => {
    const names = ['ada.l17', 'Ada-Lovelace', 'tri.q.n']
    const fids: string[] = []
    beforeAll(async () => {
      const { test } = site()
      for (const name of names) {
        await test.user(name)
        const json = {
          figure: { data: [{ type: 'bar', y: [1, 2] }] },
          filename: 'x',
          world_readable: true,
          raw_data: 'grid',
        }
        fids.push((await test.ask(name, 'POST', '/v2/plots', { json })).json.file.fid)
      }
    })
    /** A link with a picture, and the script. `link` and `image` follow the number of the plot. */
    const blockOf = (
      fid: string,
      { link = '/', image = '', size = '', tilde = '~', query = '', key = '', isAhead = false } = {},
    ): string => {
      const base = site().url
      const [owner, id] = fid.split(':')
      const anchor = `<a href="${base}/${tilde}${owner}/${id}${link}${query}" target="_blank" title="t"><img src="${base}/${tilde}${owner}/${id}.png${query}" alt="t" ${size} ${image}></a>`
      const script = `<script data-plotly="${fid}" ${key} src="${base}/embed.js" async></script>`
      return `<div>${isAhead ? script + anchor : anchor + script}</div>`
    }
    const frameOf = (fid: string, ending: string, attributes: string): string =>
      `<iframe src="${site().url}/~${fid.replace(':', '/')}${ending}" ${attributes}></iframe>`
    const forms = (): Record<string, string> => {
      const fid = `alice:${open}`
      const secret = `alice:${hidden}`
      const query = `?share_key=${key}`
      return {
        'block without width': blockOf(fid),
        'block of 600': blockOf(fid, { size: 'width="600" style="max-width: 100%;width: 600px;"' }),
        'block of 1154 by 792': blockOf(fid, { size: 'width="1154" height="792"' }),
        'block with %7E': blockOf(fid, { tilde: '%7E' }),
        'block with a title': blockOf(fid, { link: '/converting-a-mesh/' }),
        'block with a part': blockOf(fid, { link: '/a-title/#/code' }),
        'block without a slash': blockOf(fid, { link: '' }),
        'block with a key': blockOf(secret, { query, key: `sharekey-plotly="${key}"` }),
        'block with its script ahead': blockOf(fid, { isAhead: true }),
        'block with a fallback': blockOf(fid, {
          image: `onerror="this.onerror=null;this.src='${site().url}/404.png'"`,
        }),
        ...Object.fromEntries(fids.map((one) => [`block of ${one}`, blockOf(one)])),
        picture: `<p><a href="${site().url}/~alice/${open}"><img src="${site().url}/~alice/${open}.png" alt="t"></a></p>`,
        'mail with a key': `<a href="${site().url}/~alice/${hidden}/${query}"><img src="${site().url}/~alice/${hidden}.png${query}"></a>`,
        'frame of a notebook': frameOf(
          fid,
          '.embed',
          'id="igraph" scrolling="no" style="border:none;" seamless="seamless" height="525px" width="100%"',
        ),
        'frame of R': frameOf(fid, '.embed?link=false', 'width="800" height="600" frameBorder="0"'),
        'frame that fits': frameOf(fid, '.embed?autosize=true', 'width="100%" height="400"'),
        'frame with a key': frameOf(secret, `.embed${query}`, 'width="600" height="400"'),
        'frame of the page': frameOf(fid, '/', 'width="600" height="400"'),
      }
    }
    const policies = (): Record<string, { policy?: string; shows: 'charts' | 'frames' | 'pictures' }> => ({
      none: { shows: 'charts' },
      light: { policy: `script-src ${site().url} 'unsafe-inline'; frame-src ${site().url}`, shows: 'charts' },
      strict: {
        policy: `default-src 'none'; script-src ${site().url}; frame-src ${site().url}; img-src ${site().url}`,
        shows: 'charts',
      },
      'without scripts': { policy: "script-src 'none'", shows: 'frames' },
      'without frames': { policy: "frame-src 'none'", shows: 'pictures' },
    })
    const cases = () =>
      Object.entries(forms()).flatMap(([form, html]) =>
        Object.entries(policies()).map(([policy, { policy: text, shows }]) => ({
          form,
          policy,
          html,
          text,
          shows,
        })),
      )

    it('each shows the live chart, or picture and link', async () => {
      const all = cases()
      expect(all.length).toBeGreaterThan(80)
      // Different ones, spread over all.
      const step = runs(23, 1)
      for (const { form, policy, html, text, shows } of all.filter((_, k) => k % step === 0)) {
        const name = `${form}, policy ${policy}`
        const visit = await host(html, text)
        const isBlock = form.startsWith('block')
        const isFrame = form.startsWith('frame')
        const hasChart = isBlock ? shows === 'charts' : isFrame && shows !== 'pictures'
        if (hasChart) {
          const frame = await visit.page.waitForFrame((one) => one.url().includes('.embed'))
          await frame.waitForSelector('#chart[data-drawn="true"]')
          await visit.page.waitForFunction(
            () => getComputedStyle(document.querySelector('iframe')!).visibility === 'visible',
          )
          const links = await visit.page.$$eval(
            'a',
            (found) => found.filter((one) => one.offsetWidth > 0).length,
          )
          expect([name, links]).toEqual([name, 0])
        } else if (!isFrame) {
          await visit.page.waitForFunction(() => document.querySelector('img')!.naturalWidth > 0)
          const seen = await visit.page.$eval('a', (link) => [
            getComputedStyle(link).display !== 'none',
            link.querySelector('img')!.getBoundingClientRect().height > 50,
          ])
          expect([name, ...seen]).toEqual([name, true, true])
        }
        expect([name, visit.seen.hits]).toEqual([name, []])
        await visit.close()
      }
    })
  })
})
