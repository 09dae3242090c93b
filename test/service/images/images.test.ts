// Images of plots and figures, drawn by a real Chromium.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it, vi } from 'vitest'
import { Drawer } from '../../../src/draw/index.ts'
import { onSqliteFirst, scatter, URL_OF_TESTS } from '../../support/service.ts'

/** Reads width and height from the header of a PNG. */
function sizeOfPng(bytes: Uint8Array): [number, number] {
  const buffer = Buffer.from(bytes)
  expect(buffer.toString('latin1', 1, 4)).toBe('PNG')
  return [buffer.readUInt32BE(16), buffer.readUInt32BE(20)]
}

/** Lists Chromium processes below this one. */
function chromiums(): number[] {
  const parents = new Map<number, number>()
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      parents.set(Number(pid), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
    } catch {
      // The process has ended.
    }
  }
  const isOurs = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = parents.get(at))
      if (at === process.pid) return true
    return false
  }
  return [...parents.keys()].filter((pid) => {
    try {
      return isOurs(pid) && /chrom/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0])
    } catch {
      return false
    }
  })
}

onSqliteFirst('images', (test) => {
  const get = async (user: string | undefined, path: string, headers: Record<string, string> = {}) => {
    const key = user && test().keys.get(user)
    const authorization = `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`
    const request = new Request(URL_OF_TESTS + path, {
      headers: { ...headers, ...(user && { authorization }) },
    })
    const response = await test().service.fetch(request)
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      etag: response.headers.get('etag') ?? '',
      bytes: new Uint8Array(await response.arrayBuffer()),
    }
  }
  const image = (fid: string, query = ''): string => `/v2/files/${fid}/image${query}`

  it('an image inside a figure loads nothing, and omitted images are reported', async () => {
    const inside = `<foreignObject width="9" height="9"><img xmlns="http://www.w3.org/1999/xhtml" src="http://127.0.0.1:9/"/></foreignObject>`
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/>${inside}</svg>`
    const own = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
    const place = { x: 0, y: 1, sizex: 0.5, sizey: 0.5 }
    const images = [own, 'https://example.com/logo.png'].map((source) => ({ source, ...place }))
    const { file } = await test().plot('alice', { data: [{ y: [1, 2] }], layout: { images } })
    const { status, headers } = await test().ask('alice', 'GET', image(file.fid))
    expect(status).toBe(200)
    expect(decodeURIComponent(headers.get('gridline-warning') ?? '')).toContain(
      'layout.images.1 is not drawn',
    )
  })

  it('a plot has an image in three sizes, with the size of its layout', async () => {
    const { file } = await test().plot('alice', scatter([1, 3, 2]))
    const sized = await test().plot('alice', { data: [{ y: [1, 2] }], layout: { width: 640, height: 400 } })
    const whole = await get('alice', image(file.fid))
    expect([whole.status, whole.type, sizeOfPng(whole.bytes)]).toEqual([200, 'image/png', [700, 500]])
    expect(sizeOfPng((await get('alice', image(file.fid, '?image_name=block-thumb'))).bytes)).toEqual([
      315, 225,
    ])
    expect(sizeOfPng((await get('alice', image(file.fid, '?image_name=list-thumb'))).bytes)).toEqual([
      105, 75,
    ])
    expect(sizeOfPng((await get('alice', image(sized.file.fid))).bytes)).toEqual([640, 400])
    const large = await get('alice', image(sized.file.fid, '?width=300&height=200&scale=2'))
    expect(sizeOfPng(large.bytes)).toEqual([600, 400])
  })

  it('the image of a chart with many rows is higher, unless its height is given', async () => {
    const names = Array.from({ length: 60 }, (_, k) => `Name ${k}`)
    const data = [{ type: 'bar', orientation: 'h', y: names, x: names.map((_, k) => k) }]
    const { file } = await test().plot('alice', {
      data,
      layout: { meta: { theme: 'gridline' }, yaxis: { type: 'category' } },
    })
    const [, height] = sizeOfPng((await get('alice', image(file.fid))).bytes)
    expect(height).toBeGreaterThan(800)
    expect(sizeOfPng((await get('alice', image(file.fid, '?height=300'))).bytes)).toEqual([700, 300])
  })

  it('an image is drawn in every format', async () => {
    const { file } = await test().plot('alice', scatter([1, 3, 2]))
    const begins = { svg: '<svg', jpeg: '\xff\xd8\xff', webp: 'RIFF', pdf: '%PDF-' }
    for (const [format, text] of Object.entries(begins)) {
      const { status, type, bytes } = await get('alice', image(file.fid, `?format=${format}`))
      expect([status, type]).toEqual([200, expect.stringContaining(format)])
      expect(Buffer.from(bytes).toString('latin1', 0, text.length)).toBe(text)
    }
  })

  it('an image shows the current data, and is cached while it is unchanged', async () => {
    const { fid, cols } = await test().grid('alice', 'growing', { y: [1, 2] })
    const ysrc = `${fid}:${cols[0].uid}`
    const made = await test().ask('alice', 'POST', '/v2/plots', { json: { figure: { data: [{ ysrc }] } } })
    const path = image(made.json.file.fid)
    const first = await get('alice', path)
    expect((await get('alice', path, { 'if-none-match': first.etag })).status).toBe(304)
    expect((await get('alice', path)).bytes).toEqual(first.bytes)
    await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[9]] } })
    const second = await get('alice', path, { 'if-none-match': first.etag })
    expect(second.status).toBe(200)
    expect(second.bytes).not.toEqual(first.bytes)
  })

  it('an image requires access to the plot, also when it is cached', async () => {
    const { file } = await test().plot('alice', scatter([4, 5]), { world_readable: true })
    expect((await get(undefined, image(file.fid))).status).toBe(200)
    await test().ask('alice', 'PATCH', `/v2/files/${file.fid}`, { json: { world_readable: false } })
    expect((await get(undefined, image(file.fid))).status).toBe(404)
    expect((await get('bob', image(file.fid))).status).toBe(404)
    const { json } = await test().ask('alice', 'PATCH', `/v2/files/${file.fid}`, {
      json: { share_key_enabled: true },
    })
    expect((await get(undefined, image(file.fid, `?share_key=${json.share_key}`))).status).toBe(200)
  })

  it('a grid that becomes private disappears from images of other users', async () => {
    const grid = await test().grid('bob', 'lent', { y: [1, 5, 2] }, { world_readable: true })
    const ysrc = `${grid.fid}:${grid.cols[0].uid}`
    const made = await test().ask('alice', 'POST', '/v2/plots', { json: { figure: { data: [{ ysrc }] } } })
    const path = image(made.json.file.fid)
    const before = await get('alice', path)
    await test().ask('bob', 'PATCH', `/v2/files/${grid.fid}`, { json: { world_readable: false } })
    const after = await get('alice', path)
    expect(after.etag).not.toBe(before.etag)
    expect(after.bytes).not.toEqual(before.bytes)
  })

  it('unknown names, impossible sizes and files that are not plots are 400', async () => {
    const { file, grid_fid } = await test().plot('alice', scatter([1]))
    const status = async (path: string) => (await get('alice', path)).status
    expect(await status(image(file.fid, '?image_name=huge'))).toBe(400)
    for (const query of [
      'width=0',
      'width=-5',
      'height=100000',
      'scale=0',
      'scale=9',
      'width=NaN',
      'scale=1e9',
    ])
      expect([query, await status(image(file.fid, `?${query}`))]).toEqual([query, 400])
    // A scale makes a difference for pixels only, and the download of a large chart is not refused.
    expect([200, 501]).toContain(await status(image(file.fid, '?scale=9&format=svg')))
    const large = { ...scatter([1]), layout: { width: 3600, height: 2000 } }
    const { file: wide } = await test().plot('alice', large, { filename: 'wide' })
    const page = await test().ask('alice', 'GET', `/~${wide.fid.replace(':', '/')}/`)
    expect(page.text).toContain('.png?scale=1&amp;download')
    expect(await status(image(grid_fid))).toBe(400)
    expect(await status(image('alice:99999'))).toBe(404)
  })

  it('a figure is drawn without being stored, as bytes or as base64 in JSON', async () => {
    const ask = (json: object) => test().ask('alice', 'POST', '/v2/images', { json })
    const svg = await ask({ figure: scatter([1, 2]), format: 'svg', width: 300, height: 200 })
    expect([svg.status, svg.text.slice(0, 4)]).toEqual([200, '<svg'])
    const encoded = await ask({
      figure: scatter([1, 2]),
      width: 200,
      height: 100,
      encoded: true,
      scale: null,
    })
    expect(sizeOfPng(Buffer.from(encoded.json.image, 'base64'))).toEqual([200, 100])
    expect((await ask({ figure: scatter([1]), format: 'emf' })).status).toBe(400)
    expect((await ask({ figure: [1, 2] })).status).toBe(400)
    expect((await test().ask(undefined, 'POST', '/v2/images', { json: { figure: {} } })).status).toBe(401)
  })

  it('a figure that needs data of another host is 422 with the reason', async () => {
    const data = [{ type: 'choropleth', geojson: 'https://example.com/a.json', locations: ['a'], z: [1] }]
    const { status, json } = await test().ask('alice', 'POST', '/v2/images', { json: { figure: { data } } })
    expect([status, json.errors[0].code]).toEqual([422, 'bad_figure'])
    expect(json.detail).toContain('https://example.com/a.json')
  })

  it('an SVG image never runs scripts, here or where it is saved', async () => {
    const text =
      `<span style="TOBESTRIPPED' tabindex='0' autofocus='' onfocus='alert(1)' z='TOBESTRIPPED">x</span>` +
      '<a href="javascript:alert(2)">y</a><a href="https://example.com/" popup="width=1">z</a>'
    const { file } = await test().plot('alice', { ...scatter([1]), layout: { title: { text } } })
    const request = { headers: { authorization: `Bearer ${test().keys.get('alice')}` } }
    for (const path of [image(file.fid, '?format=svg'), `/~${file.fid.replace(':', '/')}.svg`]) {
      const response = await test().service.fetch(new Request(URL_OF_TESTS + path, request))
      expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'.*; sandbox$/)
      const svg = await response.text()
      expect(svg).toMatch(/^<svg[\s\S]*<\/svg>$/)
      expect(svg).not.toMatch(/\son\w+=|javascript:|autofocus|<script/i)
    }
  })

  it('characters that are invalid in XML are dropped from texts', async () => {
    for (const format of ['svg', 'png']) {
      const figure = { ...scatter([1]), layout: { title: { text: 'a\ud800b\u0001c' } } }
      expect(await test().status('alice', 'POST', '/v2/images', { json: { figure, format } })).toBe(200)
    }
  })

  it('after Chromium is killed, the next image is drawn', async () => {
    const figure = (title: string) => ({ ...scatter([1, 2]), layout: { title: { text: title } } })
    const draw = (title: string) =>
      test().ask('alice', 'POST', '/v2/images', { json: { figure: figure(title) } })
    expect((await draw('before')).status).toBe(200)
    const running = chromiums()
    expect(running.length).toBeGreaterThan(0)
    execFileSync('kill', ['-9', ...running.map(String)])
    expect((await draw('after')).status).toBe(200)
  })

  it('a server draws the thumbnail of a changed chart before anyone asks for it', async () => {
    const { service } = test()
    service.startJobs()
    // Charts of other tests have thumbnails, too.
    await service.idle()
    const drawn = vi.spyOn(Drawer.prototype, 'draw')
    const { file } = await test().plot('alice', scatter([3, 1, 2]))
    await service.idle()
    const thumbnail = `/~${file.fid.replace(':', '/')}.png?width=480&height=300`
    expect(sizeOfPng((await get('alice', thumbnail)).bytes)).toEqual([480, 300])
    const changed = await test().ask('alice', 'PATCH', `/v2/plots/${file.fid}`, {
      json: { figure: scatter([5, 9]), raw_data: 'grid' },
    })
    expect(changed.status).toBe(200)
    await service.idle()
    expect((await get('alice', thumbnail)).status).toBe(200)
    // Both pictures were drawn in the background, and none for the page.
    expect(drawn).toHaveBeenCalledTimes(2)
    drawn.mockRestore()
  })
})
