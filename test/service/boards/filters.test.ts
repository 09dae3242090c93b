// Filters of boards: all items follow them, as far as their grids have the column, and nobody gets others.
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { runs } from '../../support/property-runs.ts'
import { idlocal, onSqliteFirst } from '../../support/service.ts'

onSqliteFirst('filters of boards', (test) => {
  const ask = (...given: Parameters<ReturnType<typeof test>['ask']>) => test().ask(...given)
  const columns = {
    city: ['Oslo', 'Rome', "l'Aquila", 'Oslo', null],
    'the "year"': [2023, 2023, 2024, 2024, 2024],
    temp: [1, 2, 3, 4, 5],
    warm: [true, false, true, true, false],
    day: ['2024-01-01', '2024-01-02', '2024-01-03', '2024-01-01', '2024-01-02'],
  }
  let grid: { fid: string; cols: { uid: string; name: string }[] }
  let other: string
  let plot: string
  const uidOf = (name: string) => grid.cols.find((one) => one.name === name)!.uid
  beforeAll(async () => {
    grid = await test().grid('alice', 'weather', columns)
    other = (await test().grid('alice', 'other', { n: [1, 2] })).fid
    const figure = {
      data: [{ type: 'bar', xsrc: `${grid.fid}:${uidOf('day')}`, ysrc: `${grid.fid}:${uidOf('temp')}` }],
      layout: {},
    }
    plot = (await test().plot('alice', figure, { filename: 'bars', world_readable: true })).file.fid
  })
  const create = async (items: object[], filters: unknown, more: object = {}) =>
    ask('alice', 'POST', '/v2/dashboards', {
      json: { content: { settings: { board: { filters, rows: [{ items }] } } }, ...more },
    })
  const items = () => [
    { plot },
    { number: grid.fid, value: 'sum:temp', where: 'temp < 5' },
    { table: grid.fid, columns: ['temp'] },
    { number: other, value: 'count' },
  ]
  const page = async (fid: string, query = '', user: string | null = 'alice', ending = '/') =>
    (await ask(user ?? undefined, 'GET', `/~alice/${idlocal(fid)}${ending}${query && `?${query}`}`)).text
  const numbersOf = (text: string): string[] =>
    [...text.matchAll(/<p class="number">([^<]*)/g)].map(([, number]) => number)
  const frameOf = (text: string): string =>
    /<iframe src="([^"]*)"/
      .exec(text)![1]
      .replaceAll('&amp;', '&')
      .replace(/^https?:\/\/[^/]+/, '')
  /** Returns what a frame draws. */
  const drawn = async (url: string, user?: string): Promise<unknown[]> => {
    const { text } = await ask(user, 'GET', url)
    const json = /<script type="application\/json"[^>]*>([\s\S]*?)<\/script>/.exec(text)![1]
    return JSON.parse(json).data[0]?.y ?? []
  }

  it('items follow a filter, and say if their grid has no such column', async () => {
    const { json } = await create(items(), [{ column: 'city' }, { column: 'the "year"', title: 'Year' }])
    const { fid } = json.file
    const whole = await page(fid)
    expect(numbersOf(whole)).toEqual(['10', '2'])
    expect(whole).toContain('<label>Year <select name="filter.the &quot;year&quot;">')
    expect([...whole.matchAll(/<option value="([^"]*)"/g)].map(([, value]) => value)).toEqual([
      ...['', 'Oslo', 'Rome', 'l&#39;Aquila', '(none)'],
      ...['', '2023', '2024'],
    ])
    expect(await drawn(frameOf(whole), 'alice')).toEqual([1, 2, 3, 4, 5])
    const oslo = await page(fid, 'filter.city=Oslo&theme=dark')
    expect(numbersOf(oslo)).toEqual(['5', '2'])
    expect(oslo.match(/Not filtered by city/g)).toHaveLength(1)
    expect(oslo).toContain('<option value="Oslo" selected>')
    expect(oslo).toContain('<input type="hidden" name="theme" value="dark">')
    expect(await drawn(frameOf(oslo), 'alice')).toEqual([1, 4])
    const both = await page(fid, `filter.city=Oslo&${encodeURIComponent('filter.the "year"')}=2024`)
    expect(numbersOf(both)).toEqual(['4', '2'])
    expect(await drawn(frameOf(both), 'alice')).toEqual([4])
    expect(numbersOf(await page(fid, `filter.city=${encodeURIComponent("l'Aquila")}`))).toEqual(['3', '2'])
    expect(numbersOf(await page(fid, 'filter.city=(none)'))).toEqual(['–', '2'])
    expect(await drawn(frameOf(await page(fid, 'filter.city=(none)')), 'alice')).toEqual([5])
    for (const none of ['filter.city=nowhere', `${encodeURIComponent('filter.the "year"')}=x`])
      expect([none, numbersOf(await page(fid, none))[0]]).toEqual([none, '–'])
    const typo = await page(fid, 'filter.city=Osla&filter.town=Oslo')
    expect([...typo.matchAll(/<p class="note">([^<]*)</g)].map(([, note]) => note)).toEqual([
      'The board has no filter &quot;town&quot;.',
      'No row has &quot;Osla&quot; in city.',
    ])
    expect(
      (await test().ask('alice', 'GET', `/v2/files/${fid}/image?format=html&filter=city%3DOsla`)).json,
    ).toMatchObject({
      errors: [
        {
          message: 'filter: no row has "Osla" in city',
          hint: expect.stringMatching(/^Did you mean Oslo\? The board shows: .*Rome/),
        },
      ],
    })
    const html = await page(fid, 'filter.city=Oslo', 'alice', '.html')
    expect(html).toContain('city: <strong>Oslo</strong>')
    expect(numbersOf(html)).toEqual(['5', '2'])
  })

  it('dates, booleans and defaults; all is a choice as well', async () => {
    const { json } = await create(items(), [{ column: 'day', default: '2024-01-01' }, { column: 'warm' }])
    const { fid } = json.file
    expect(numbersOf(await page(fid))).toEqual(['5', '2'])
    expect(numbersOf(await page(fid, 'filter.day='))).toEqual(['10', '2'])
    expect(numbersOf(await page(fid, 'filter.day=&filter.warm=false'))).toEqual(['2', '2'])
    expect(await drawn(frameOf(await page(fid, 'filter.warm=true')), 'alice')).toEqual([1, 4])
  })

  it('a reader of a public board gets the filters that it names, and no others', async () => {
    // The values are those of a private grid that a public chart shows, and a number that the reader does not see.
    const hiddenNumber = { number: grid.fid, value: 'count' }
    const { json } = await create([hiddenNumber, { plot }], [{ column: 'city' }], { world_readable: true })
    const { fid } = json.file
    const shown = await page(fid, 'filter.city=Oslo&filter.warm=true&filter.temp=1', null)
    expect(shown).toContain('<option value="Rome">')
    expect(await drawn(frameOf(shown))).toEqual([1, 4])
    const url = frameOf(shown)
    const token = new URL(url, 'http://a').searchParams.get('rows')!
    const body = Buffer.from(token, 'base64url')
    const forged = Buffer.from(body.toString('latin1').replace('"Oslo"', '"Rome"'), 'latin1').toString(
      'base64url',
    )
    const second = (await test().plot('alice', { data: [{ y: [7] }], layout: {} }, { world_readable: true }))
      .file.fid
    expect(await drawn(url.replace(/rows=[^&]*/, 'filter.city=Oslo'))).toEqual([1, 2, 3, 4, 5])
    for (const changed of [url.replace(token, forged), url.replace(/alice\/\d+/, `alice/${idlocal(second)}`)])
      expect([changed, (await ask(undefined, 'GET', changed)).status]).toEqual([changed, 404])
    // What the board no longer offers has an end.
    const without = { settings: { board: { rows: [{ items: [{ plot }] }] } } }
    await ask('alice', 'PUT', `/v2/dashboards/${fid}`, { json: { content: without } })
    expect((await ask(undefined, 'GET', url)).status).toBe(404)
  })

  it('who may only write a board adds no filters, and its readers see values of charts that they see', async () => {
    const { json } = await create([{ plot }], [{ column: 'city' }])
    const { fid } = json.file
    await ask('alice', 'POST', `/v2/files/${fid}/collaborators`, {
      json: { users: ['bob'], readonly: false },
    })
    const secret = (
      await test().plot('alice', { data: [{ ysrc: `${grid.fid}:${uidOf('temp')}` }], layout: {} })
    ).file.fid
    const put = (list: object[], filters: object[]) =>
      ask('bob', 'PUT', `/v2/dashboards/${fid}`, {
        json: { content: { settings: { board: { filters, rows: [{ items: list }] } } } },
      })
    for (const [list, filters] of [
      [[{ plot }], [{ column: 'city' }, { column: 'temp' }]],
      [[{ plot }, { plot: secret }], [{ column: 'city' }]],
    ])
      expect((await put(list, filters)).status).toBe(403)
    expect((await put([{ plot }, { text: 'Hello' }], [{ column: 'city', title: 'City' }])).status).toBe(200)
    expect((await put([{ plot: secret }], [])).status).toBe(200)
    // A board with a chart that its reader cannot see lists no values of it.
    const hidden = (await create([{ plot: secret }], [{ column: 'city' }], { world_readable: true })).json
      .file.fid
    const page = (await ask(undefined, 'GET', `/~alice/${idlocal(hidden)}/`)).text
    expect([page.includes('Oslo'), page.includes('filter.city')]).toEqual([false, true])
  })

  it('charts that follow a filter only in part say so, and a value that is none shows nothing', async () => {
    const figure = {
      data: [{ ysrc: `${grid.fid}:${uidOf('temp')}`, selectedpoints: [4] }, { y: [7, 8] }],
      layout: {},
    }
    const mixed = (await test().plot('alice', figure)).file.fid
    const { json } = await create(
      [{ plot: mixed }, { number: grid.fid, value: 'sum:temp' }],
      [{ column: 'city' }, { column: 'day' }],
    )
    const shown = await page(json.file.fid, 'filter.city=Oslo')
    expect(shown.match(/Not filtered by city/g)).toHaveLength(1)
    expect(await drawn(frameOf(shown), 'alice')).toEqual([1, 4])
    const nothing = await page(json.file.fid, 'filter.day=01%2F02%2F2024')
    expect([numbersOf(nothing), nothing.includes('expected a date')]).toEqual([['–'], false])
  })

  it('a chart of somebody else, and a private grid, are as their readers may see them', async () => {
    const theirs = await test().grid('bob', 'theirs', { city: ['Oslo', 'Bern'], n: [1, 2] })
    const uid = theirs.cols.map((one: { uid: string }) => `${theirs.fid}:${one.uid}`)
    const figure = { data: [{ xsrc: uid[0], ysrc: uid[1] }], layout: {} }
    const bobs = (await test().plot('bob', figure, { filename: 'their chart', world_readable: true })).file
      .fid
    const { json } = await create(
      [{ plot: bobs }, { table: theirs.fid }, { number: grid.fid, value: 'count' }],
      [{ column: 'city' }],
    )
    const shown = await page(json.file.fid, 'filter.city=Oslo')
    expect(shown).not.toContain('Bern')
    expect(shown).toContain('Not filtered by city')
    expect(await drawn(frameOf(shown), 'alice')).toEqual([1, 2])
  })

  it('filters that no grid has, and other content, are refused', async () => {
    const cases: [unknown, string][] = [
      [[{ column: 'ctiy' }], 'no grid of the board has a column "ctiy"'],
      [['city'], 'filter 1'],
      [[{ column: '' }], 'must be the name of a column'],
      [[{ column: 'city' }, { column: 'city' }], 'has a filter already'],
      [[{ column: 'city', value: 'x' }], '"value" is not known'],
      [{ column: 'city' }, 'must be a list'],
      [Array.from({ length: 11 }, (_, k) => ({ column: `c${k}` })), 'must be at most 10'],
    ]
    for (const [filters, said] of cases) {
      const { status, json } = await create(items(), filters)
      expect([filters, status, json.detail]).toEqual([filters, 400, expect.stringContaining(said)])
    }
  })

  it('a filter of a chart with conditions, series and sums selects the same rows as the grid', async () => {
    let tried = 0
    const seed = 7
    const rows = fc.array(fc.tuple(fc.constantFrom('a', 'b', "c'"), fc.nat(3), fc.nat(9)), {
      minLength: 1,
      maxLength: 30,
    })
    for (const [list, key, step] of fc.sample(fc.tuple(rows, fc.constantFrom('a', 'b', "c'"), fc.nat(3)), {
      numRuns: runs(6, 60),
      seed,
    })) {
      const made = await test().grid('alice', `random ${tried++}`, {
        key: list.map(([one]) => one),
        step: list.map(([, one]) => one),
        value: list.map(([, , one]) => one),
      })
      const source = Object.fromEntries(
        made.cols.map((one: { name: string; uid: string }) => [one.name, one.uid]),
      )
      const figure = {
        data: [
          {
            type: 'bar',
            xsrc: `${made.fid}:${source.step}`,
            ysrc: `${made.fid}:${source.value}`,
            transforms: [
              {
                type: 'rows',
                where: 'value > 2',
                names: ['value'],
                types: ['number'],
                valuessrc: `${made.fid}:${source.value}`,
              },
              { type: 'aggregate', groups: 'x', aggregations: [{ target: 'y', func: 'sum' }] },
            ],
          },
        ],
        layout: {},
      }
      const chart = (await test().plot('alice', figure)).file.fid
      const { json } = await create(
        [{ plot: chart }, { number: made.fid, value: 'sum:value', where: 'value > 2' }],
        [{ column: 'key' }, { column: 'step' }],
      )
      for (const query of [{ key }, { key, step: String(step) }]) {
        const asked = new URLSearchParams(
          Object.entries(query).map(([name, value]) => [`filter.${name}`, value]),
        )
        const shown = await page(json.file.fid, asked.toString())
        const sum = list
          .filter(([one, at, value]) => one === key && (query.step === undefined || at === step) && value > 2)
          .reduce((total, [, , value]) => total + value, 0)
        const bars = (await drawn(frameOf(shown), 'alice')) as number[]
        expect([asked.toString(), bars.reduce((total, one) => total + one, 0)]).toEqual([
          asked.toString(),
          sum,
        ])
        expect(numbersOf(shown)).toEqual([sum === 0 ? '–' : String(sum)])
      }
    }
  })

  it('images and files follow the filters of a request, and refuse others', async () => {
    const shown = [{ number: grid.fid, value: 'sum:temp' }]
    const { fid } = (await create(shown, [{ column: 'city', default: 'Rome' }])).json.file
    const draw = (of: string, query: string) =>
      ask('alice', 'GET', `/v2/files/${of}/image?format=html${query}`)
    for (const [query, sum] of [
      ['', '2'],
      ['&filter=city%3DOslo', '5'],
      ['&filter=city%3D', '15'],
    ])
      expect(numbersOf((await draw(fid, query)).text), query).toEqual([sum])
    expect((await draw(fid, '&filter=ctiy%3DOslo')).json.detail).toBe(
      'filter: the board has no filter "ctiy"',
    )
    const twice = await draw(fid, '&filter=city%3DOslo&filter=city%3DRome')
    const wrong = [twice, await draw(fid, '&filter=city'), await draw(plot, '&filter=city%3DOslo')]
    expect(wrong.map(({ status }) => status)).toEqual([400, 400, 400])
    expect((await ask('alice', 'GET', `/~alice/${idlocal(fid)}.html?filter.ctiy=Oslo`)).status).toBe(400)
    // The page leads to the files with its filter.
    for (const value of ['Oslo', '']) {
      const text = await page(fid, `filter.city=${value}&filter.other=x`)
      const [, address] = /href="[^"]*(\/~alice\/\d+\.html\?[^"]*)"/.exec(text)!
      const file = await ask('alice', 'GET', address.replaceAll('&amp;', '&'))
      expect([file.status, numbersOf(file.text)]).toEqual([200, [value === '' ? '15' : '5']])
    }
  })
})
