// The page of a grid: paging, sorting, filtering.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeStart } from '../../../src/service/grids/read/decode-start.ts'
import { onSqliteFirst } from '../../support/service.ts'

/** Parses the rows of a page: numbers and texts of cells. */
function rowsOf(html: string): { number: number; cells: string[] }[] {
  return [...html.matchAll(/<tr><th scope="row">(\d+)<\/th>(.*?)<\/tr>/gs)].map(([, number, cells]) => ({
    number: Number(number),
    cells: [...cells.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell]) => cell),
  }))
}

/** Sort order of pages: numbers, then other JSON values by text, then strings by code point. */
function compare(a: unknown, b: unknown): number {
  const rank = (value: unknown): number => (typeof value === 'number' ? 0 : typeof value === 'string' ? 2 : 1)
  if (rank(a) !== rank(b)) return rank(a) - rank(b)
  if (typeof a === 'number') return a - (b as number)
  const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
  return Buffer.compare(bytes(a), bytes(b))
}

onSqliteFirst('the page of a grid', (test) => {
  const pageOf = async (webUrl: string, query = '', user?: string): Promise<string> => {
    const { status, text } = await test().ask(user, 'GET', `${new URL(webUrl).pathname}${query}`)
    expect(status).toBe(200)
    return text
  }
  const uidsOf = async (fid: string): Promise<Record<string, string>> => {
    const { cols } = (await test().ask('alice', 'GET', `/v2/grids/${fid}/content`)).json
    return Object.fromEntries(Object.entries<{ uid: string }>(cols).map(([name, { uid }]) => [name, uid]))
  }

  it('the grid page pages through all rows in grid order, with the type of each column', async () => {
    const n = Array.from({ length: 250 }, (_, k) => k / 2)
    const { web_url } = await test().grid('alice', 'pages', { n, text: n.map(String), mixed: [1, 'a'] })
    const pages = ['', '?page=2', '?page=3', '?page=99'].map((query) => pageOf(web_url, query, 'alice'))
    const [first, second, third, beyond] = await Promise.all(pages)
    expect(first).toContain('250 rows, 3 columns')
    for (const [name, type] of Object.entries({ n: 'number', text: 'text', mixed: 'mixed' }))
      expect(first).toMatch(new RegExp(`>${name}</a><span class="type">${type}</span>`))
    expect([first, second, third].flatMap(rowsOf).map(({ number }) => number)).toEqual(n.map((_, k) => k + 1))
    expect(rowsOf(first)[1].cells).toEqual(['0.5', '0.5', 'a'])
    expect(rowsOf(third)[49].cells).toEqual(['124.5', '124.5', ''])
    expect(third).toBe(beyond)
    expect(first).toContain('page 1 of 3')
    expect(first).toContain(`href="${web_url}?page=2">Next</a>`)
    expect(third).toContain('<span aria-disabled="true">Next</span>')
  })

  it('the grid page pages through the columns of a wide grid', async () => {
    const wide = Object.fromEntries(Array.from({ length: 120 }, (_, k) => [`column ${k}`, [k]]))
    const { web_url } = await test().grid('alice', 'wide', wide)
    const shown: string[] = []
    for (const query of ['', '?columns=2', '?columns=3'])
      shown.push(...rowsOf(await pageOf(web_url, query, 'alice'))[0].cells)
    expect(shown).toEqual(Object.keys(wide).map((_, k) => String(k)))
  })

  it('the grid page sorts the whole grid by any column, in both directions, with missing values last', async () => {
    const value = fc.oneof(
      fc.constant(null),
      fc.integer({ min: -3, max: 3 }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(
        '',
        'a',
        'ab',
        'prefix one',
        'prefix two',
        'é',
        '😀',
        '\uffff',
        'a"b',
        'a\\',
        'a\n',
        '\0',
      ),
      fc.string(),
      fc.boolean(),
    )
    let made = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(value, { minLength: 1, maxLength: 230 }),
        fc.boolean(),
        async (data, down) => {
          // The second column is longer: its last rows have no value in the first one.
          const longer = [...data, 1, 2].map((_, k) => k)
          const { web_url } = await test().grid('alice', `sorted ${++made}`, { data, longer })
          const query = `&sort=${down ? '-' : ''}data`
          const rows: number[] = []
          for (let page = 1; rows.length < longer.length; page++) {
            const html = await pageOf(web_url, `?page=${page}${query}`, 'alice')
            expect(html).toContain(`aria-sort="${down ? 'descending' : 'ascending'}"`)
            const found = rowsOf(html)
            for (const { number, cells } of found) expect(cells[1]).toBe(String(number - 1))
            rows.push(...found.map(({ number }) => number - 1))
          }
          const valued = longer.filter((k) => (data[k] ?? null) !== null)
          // Equal values keep the order of their rows.
          const expected = valued.sort((a, b) => (down ? -1 : 1) * compare(data[a], data[b]) || a - b)
          expect(rows).toEqual([...expected, ...longer.filter((k) => (data[k] ?? null) === null)])
        },
      ),
      { numRuns: 20 },
    )
  })

  it('the sorted grid page includes appended and changed rows', async () => {
    const { fid, web_url } = await test().grid('alice', 'follows', { n: [2, 3] })
    const { n: uid } = await uidsOf(fid)
    const sorted = async () =>
      rowsOf(await pageOf(web_url, '?sort=n', 'alice')).map(({ cells }) => Number(cells[0]))
    expect(await sorted()).toEqual([2, 3])
    await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[1]] } })
    expect(await sorted()).toEqual([1, 2, 3])
    await test().ask('alice', 'PUT', `/v2/grids/${fid}/col?uid=${uid}`, {
      json: { cols: JSON.stringify([{ data: [9, 5, 7] }]) },
    })
    expect(await sorted()).toEqual([5, 7, 9])
  })

  it('the grid page does not sort by a removed column or one with too much text, and says so', async () => {
    const { web_url } = await test().grid('alice', 'gone', { n: [2, 1] })
    const html = await pageOf(web_url, '?sort=c0ffee&page=x&columns=-1', 'alice')
    expect(html).toContain('the grid has no column &quot;c0ffee&quot;. Its columns are: n.')
    expect(rowsOf(html).map(({ number }) => number)).toEqual([1, 2])
  })

  it('a condition on the grid page applies to all pages, links and downloads; a mistake is shown', async () => {
    const n = Array.from({ length: 300 }, (_, k) => k)
    const { web_url } = await test().grid('alice', 'chosen', { n, half: n.map((k) => k / 2) })
    const html = await pageOf(
      web_url,
      `?where=${encodeURIComponent('n >= 10 and n < 250')}&sort=-n&page=3`,
      'alice',
    )
    expect(html).toContain('240 of 300 rows')
    expect(rowsOf(html).map(({ number }) => number)).toEqual(Array.from({ length: 40 }, (_, k) => 50 - k))
    for (const [, href] of html.matchAll(/href="([^"]*(?:page=|format=csv)[^"]*)"/g))
      expect(href).toContain('where=n%20%3E%3D%2010%20and%20n%20%3C%20250')
    const wrong = await pageOf(web_url, `?where=${encodeURIComponent('n >= "x')}`, 'alice')
    expect(wrong).toContain('the quote &quot; is not closed, at character 6')
    expect(wrong).toContain('value="n &gt;= &quot;x"')
    expect(rowsOf(wrong).length).toBe(100)
  })

  it('links of the grid page pass the share key on, and without it or access there is no page', async () => {
    const { fid, web_url } = await test().grid('alice', 'secret', {
      n: Array.from({ length: 101 }, (_, k) => k),
    })
    await test().ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { share_key_enabled: true } })
    const { share_key } = (await test().ask('alice', 'GET', `/v2/files/${fid}`)).json
    const html = await pageOf(web_url, `?share_key=${share_key}&sort=n&where=n%20%3E%3D%200`)
    const links = [...html.matchAll(/href="(http[^"]*)"/g)].map(([, href]) => href)
    expect(links.length).toBeGreaterThan(4)
    for (const href of links) expect(href).toContain(`share_key=${share_key}`)
    const path = new URL(web_url).pathname
    for (const query of ['?sort=n', '?share_key=wrong'])
      expect((await test().ask('bob', 'GET', `${path}${query}`)).status).toBe(404)
  })
})

describe('the beginning of a text', () => {
  it('the beginning of a text equals the parsed text, cut at a character', () => {
    const part = fc.constantFrom('a', 'é', '€', '😀', '\\', '"', '\n', '\u0001', '\ud800')
    fc.assert(
      fc.property(fc.array(part), fc.integer({ min: 8, max: 60 }), fc.boolean(), (parts, most, escaped) => {
        const text = parts.join('')
        const encode = (plain: string): string => {
          const json = JSON.stringify(plain)
          const hex = (c: string): string => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`
          return escaped ? json.replace(/[^\u0020-\u007e]/g, hex) : json
        }
        const json = encode(text)
        const buf = Buffer.from(json)
        const start = decodeStart(buf, 0, buf.length, most)
        const whole = JSON.parse(buf.toString()) as string
        expect(whole.startsWith(start.replace(/[\ud800-\udbff]$/, ''))).toBe(true)
        if (buf.length <= most) expect(start).toBe(whole)
        // Up to three bytes of a character and five of an escape are cut; a quote is added.
        else expect(Buffer.byteLength(encode(start))).toBeGreaterThanOrEqual(most - 7)
      }),
    )
  })
})
