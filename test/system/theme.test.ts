// The default theme: colors, contrast, and positions of texts and marks.
import { expect, it } from 'vitest'
import type { Attributes } from '../../src/browser/theme/arrangement.ts'
import { SCHEME_COLORS } from '../../src/browser/theme/colors.ts'
import { furtherChanges } from '../../src/browser/theme/further-changes.ts'
import { applyTheme, measuredChanges, needsMeasuring } from '../../src/browser/theme/index.ts'
import { COLORS, DARK_COLORS } from '../../src/charts/figure/colors.ts'
import { MARK_NAME } from '../../src/charts/figure/shared-names.ts'

type Triple = [number, number, number]

/** Returns the linear RGB of a color, from 0 to 1. */
function lightOf(hex: string): Triple {
  return [1, 3, 5].map((at) => {
    const share = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as Triple
}

const luminance = ([r, g, b]: Triple): number => 0.2126 * r + 0.7152 * g + 0.0722 * b

/** Returns the contrast ratio of two colors (WCAG 2). */
function contrast(a: string, b: string): number {
  const [one, other] = [luminance(lightOf(a)), luminance(lightOf(b))].sort((x, y) => y - x)
  return (one + 0.05) / (other + 0.05)
}

/** Matrices that simulate color blindness at full severity: Machado, Oliveira and Fernandes (2009). */
const VISIONS: Record<string, Triple[]> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

/** Converts linear RGB to CIE L*a*b*. */
function lab([r, g, b]: Triple): Triple {
  const f = (t: number): number => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116)
  const x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047)
  const y = f(0.2126 * r + 0.7152 * g + 0.0722 * b)
  const z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883)
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
}

it.each(
  Object.keys(VISIONS).flatMap((vision) => [
    [vision, 'light', COLORS] as const,
    [vision, 'dark', DARK_COLORS] as const,
  ]),
)('the eight colors stay distinct: %s, %s', (vision, _, colors) => {
  const seen = colors.map((color) => {
    const light = lightOf(color)
    const through = VISIONS[vision].map((row) =>
      Math.max(0, Math.min(1, row[0] * light[0] + row[1] * light[1] + row[2] * light[2])),
    )
    return lab(through as Triple)
  })
  for (const [k, a] of seen.entries())
    for (const b of seen.slice(k + 1))
      expect(Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])).toBeGreaterThan(18)
})

it('each color has a contrast of 3:1 on light and 4.5:1 on dark, and texts have 4.5:1', () => {
  for (const color of DARK_COLORS)
    expect(contrast(color, SCHEME_COLORS.dark.ground)).toBeGreaterThanOrEqual(4.5)
  for (const { ground, text, soft } of Object.values(SCHEME_COLORS)) {
    for (const color of COLORS) expect(contrast(color, ground)).toBeGreaterThanOrEqual(3)
    for (const color of [text, soft]) expect(contrast(color, ground)).toBeGreaterThanOrEqual(4.5)
  }
})

it('the logo of a theme is beside the title, without overlap', () => {
  const source = 'data:image/png;base64,iVBORw0KGgo='
  const title = { text: 'A title that has just enough room in one line without it' }
  const figure = (images: object[]) => ({
    data: [{ type: 'bar', x: ['a'], y: [1] }],
    layout: { title, meta: { theme: 'house' }, template: { layout: { images } } },
  })
  const drawn = (images: object[]): Attributes =>
    applyTheme(figure(images), { scheme: 'light', width: 640, height: 400 }).layout
  const { images, template, title: wrapped } = drawn([{ name: 'logo', source }])
  expect(images).toHaveLength(1)
  expect(images[0]).toMatchObject({ source, xanchor: 'right', yanchor: 'top' })
  expect(images[0].x).toBeGreaterThanOrEqual(1)
  expect(images[0].y).toBeGreaterThan(1)
  expect(template.layout.images).toEqual([])
  expect(wrapped.text).toContain('<br>')
  // A logo with a position keeps it.
  const placed = { name: 'logo', source, x: 0, y: 0 }
  const kept = drawn([placed])
  expect([kept.images, kept.template.layout.images, kept.title.text]).toEqual([
    undefined,
    [placed],
    title.text,
  ])
})

it('month-end points are at their date, with ticks below them', () => {
  const x = ['2024-01-31', '2024-02-29', '2024-03-31']
  const { data, layout } = applyTheme(
    {
      data: [{ type: 'bar', x, y: [1, 2, 3] } as Attributes],
      layout: { meta: { theme: 'gridline' }, xaxis: { type: 'date' } } as Attributes,
    },
    { scheme: 'light', width: 640, height: 400 },
  )
  expect([data[0].x, data[0].xperiod]).toEqual([x, undefined])
  expect(layout.xaxis).toMatchObject({ tickmode: 'array', tickvals: x, tickformat: '%b\n%Y' })
})

it('points without neighbors in lines and areas are drawn as markers', () => {
  const style = { mode: 'lines', line: { color: '#123456' } }
  const of = (y: (number | null)[], more: object = {}) => ({ x: ['a', 'b', 'c', 'd'], y, ...style, ...more })
  const { data } = applyTheme(
    {
      data: [
        of([1, null, 3, 4]),
        of([1, 2, 3, 4]),
        of([null, 5]),
        of([1, null, 2, null], { connectgaps: true }),
      ],
      layout: { meta: { theme: 'gridline' }, xaxis: { type: 'category' } } as Attributes,
    },
    { scheme: 'light', width: 640, height: 400 },
  )
  expect(data.map(({ mode, marker }: Attributes) => [mode, marker?.size, marker?.color])).toEqual([
    ['lines+markers', [7, 0, 0, 0], '#123456'],
    ['lines', undefined, undefined],
    ['lines+markers', [0, 7], '#123456'],
    ['lines', undefined, undefined],
  ])
})

it('labels and names are the texts of the data, and missing labels are (none)', () => {
  const { data, layout } = applyTheme(
    {
      data: [
        {
          type: 'bar',
          name: '<i>n</i>',
          x: ['<b>x</b>', 'a &lt; b', null, null, ''],
          y: [1, 2, 3, null, 4],
        } as Attributes,
      ],
      layout: {
        meta: { theme: 'gridline' },
        xaxis: { type: 'category' },
        shapes: [{ type: 'line', x0: '<b>x</b>', x1: '<b>x</b>', y0: 0, y1: 1 }],
      } as Attributes,
    },
    { scheme: 'light', width: 900, height: 400 },
  )
  expect(data[0].name).toBe('&lt;i&gt;n&lt;/i&gt;')
  expect(data[0].x).toEqual(['&lt;b&gt;x&lt;/b&gt;', 'a &amp;lt; b', '(none)', null, '(none)'])
  expect(layout.shapes[0].x0).toBe('&lt;b&gt;x&lt;/b&gt;')
})

it('slices of rows without a label are (none): plotly.js would name them by their number', () => {
  const pie: Attributes = { type: 'pie', labels: ['3', '', '1', null], values: [5, 30, 4, 2] }
  const { data } = applyTheme(
    { data: [pie], layout: { meta: { theme: 'gridline' } } as Attributes },
    { scheme: 'light', width: 900, height: 400 },
  )
  const slices = [...data[0].labels].map((label, k) => [label, data[0].values[k]])
  expect(slices.filter(([label]) => label === '(none)').map(([, value]) => value)).toEqual([30, 2])
})

it('long labels of slices are cut, and whole on hover', () => {
  const labels = ['Administrative and support services', 'Administrative and other services', 'Trade']
  const [pie]: Attributes[] = applyTheme(
    {
      data: [{ type: 'pie', labels, values: [3, 2, 1] }],
      layout: { meta: { theme: 'gridline' } } as Attributes,
    },
    { scheme: 'light', width: 600, height: 400 },
  ).data
  expect(new Set(pie.labels).size).toBe(3)
  expect(pie.labels.map((label: string) => label.includes('…'))).toEqual([true, true, false])
  expect(pie.hovertext).toEqual(labels)
  expect(pie.hovertemplate).toContain('%{hovertext}')
})

it('places beyond the poles are not drawn at the edge of a map', () => {
  const [map] = applyTheme(
    {
      data: [{ type: 'scattergeo', lat: [59.9, 95], lon: [10.7, 3] }],
      layout: { meta: { theme: 'gridline' } } as Attributes,
    },
    { scheme: 'light', width: 600, height: 400 },
  ).data
  expect(map.lat).toEqual([59.9, null])
})

it('omitted data and cut bar axes are listed below the chart', () => {
  const footOf = (data: Attributes[], layout: Attributes): string | undefined =>
    applyTheme(
      { data, layout: { meta: { theme: 'gridline' }, ...layout } as Attributes },
      { scheme: 'light', width: 640, height: 400 },
    ).layout.annotations?.find(({ name }: Attributes) => name === 'gridline-source')?.text
  const sized = { type: 'scatter', mode: 'markers', x: [1, 2, 3], y: [-1, 0, 3] }
  expect(
    footOf([{ ...sized, marker: { sizeref: 1, size: [1, null, -30] } }], { yaxis: { type: 'log' } }),
  ).toBe('Not shown: 1 row without size, 1 row with a size of zero or less, 2 values not above zero')
  expect(footOf([{ type: 'bar', x: ['a'], y: [95] }], { yaxis: { range: [94, 100] } })).toBe(
    'The axis begins at 94, not at zero',
  )
  const meta = { theme: 'gridline', notShown: ['175 more <species>'] }
  expect(footOf([{ type: 'bar', x: ['a'], y: [95] }], { meta })).toBe('Not shown: 175 more &lt;species&gt;')
  expect(footOf([{ type: 'bar', x: ['a'], y: [95] }], {})).toBeUndefined()
})

it('integers have integer ticks, and years no commas', () => {
  const { layout } = applyTheme(
    {
      data: [{ type: 'scatter', mode: 'lines', x: [2000, 2001, 2004], y: [0, 1, 3] } as Attributes],
      layout: { meta: { theme: 'gridline' } } as Attributes,
    },
    { scheme: 'light', width: 640, height: 400 },
  )
  expect([layout.xaxis.tickvals, layout.xaxis.tickformat, layout.yaxis.nticks]).toEqual([
    [2000, 2001, 2002, 2003, 2004],
    'd',
    5,
  ])
})

it('all bar labels that fit are drawn', () => {
  const { layout } = applyTheme(
    {
      data: [{ type: 'bar', x: ['Oslo', 'Rome'], y: [1, 2] } as Attributes],
      layout: { meta: { theme: 'gridline' }, xaxis: { type: 'category' } } as Attributes,
    },
    { scheme: 'light', width: 360, height: 400 },
  )
  expect(layout.xaxis.dtick).toBe(1)
})

it('the rows of a heatmap on a phone have whole labels, of two lines if necessary', () => {
  const { layout } = applyTheme(
    {
      data: [
        {
          type: 'heatmap',
          x: [1, 2],
          y: ['Wednesday', 'Sales Northern Europe'],
          z: [[1], [2]],
        } as Attributes,
      ],
      layout: { meta: { theme: 'gridline' }, yaxis: { type: 'category' } } as Attributes,
    },
    { scheme: 'light', width: 360, height: 400 },
  )
  expect([layout.yaxis.dtick, layout.yaxis.labelalias]).toEqual([
    1,
    { 'Sales Northern Europe': 'Sales Northern<br>Europe' },
  ])
})

it('shares of a pie with negative values are of the drawn values, and a note says so', () => {
  const trace = { type: 'pie', labels: ['a', 'b', 'c', 'd'], values: [5, -3, null, 7] }
  const { data, layout } = applyTheme(
    { data: [trace], layout: { meta: { theme: 'gridline' } } as Attributes },
    { scheme: 'light', width: 640, height: 400 },
  )
  expect((data[0] as Attributes).values).toEqual([5, null, null, 7])
  expect(layout.annotations).toMatchObject([{ text: 'Not shown: 1 row without a value, 1 value below zero' }])
})

it('waterfall labels are the values, also zero and missing ones', () => {
  const trace = { type: 'waterfall', x: ['a', 'b', 'c'], y: [5, 0, null], textinfo: 'delta' }
  const [drawn]: Attributes[] = applyTheme(
    { data: [trace], layout: { meta: { theme: 'gridline' }, xaxis: { type: 'category' } } },
    { scheme: 'light', width: 640, height: 400 },
  ).data
  expect(drawn.texttemplate).toEqual(['%{delta}', '0', ''])
})

it('lollipop stems go from zero to the value, also a negative one, and labels do not overlap them', () => {
  const stem = { type: 'percent', symmetric: false, value: 0, valueminus: 100, width: 0 }
  const trace = {
    type: 'scatter',
    x: ['a', 'b'],
    y: [4, -2],
    error_y: stem,
    mode: 'markers+text',
    textposition: 'top center',
  }
  const layout = {
    meta: { theme: 'gridline', chart: 'lollipop', horizontal: true },
    xaxis: { type: 'category' },
  }
  const [drawn]: Attributes[] = applyTheme(
    { data: [trace], layout },
    { scheme: 'light', width: 640, height: 400 },
  ).data
  expect(drawn.x).toEqual([4, -2])
  expect(drawn.error_x).toMatchObject({ type: 'data', array: [0, 0], arrayminus: [4, -2] })
  expect(drawn.textposition).toEqual(['middle right', 'middle left'])
})

/** Draws a figure in the default theme, 640 px wide. */
function drawnOf(data: Attributes[], layout: Attributes = {}): { data: Attributes[]; layout: Attributes } {
  const figure = { data, layout: { ...layout, meta: { theme: 'gridline', ...layout.meta } } }
  return applyTheme(figure, { scheme: 'light', width: 640, height: 400 })
}

/** Returns the line below a chart. */
function footIn({ annotations = [] }: Attributes): string | undefined {
  return annotations.find(({ name }: Attributes) => name === 'gridline-source')?.text
}

it.each([
  [
    ['Mar', 'Feb', 'Dec', 'Jan'],
    ['Jan', 'Feb', 'Mar', 'Dec'],
  ],
  [
    ['10-19', '20-29', '100-109', '0-9', '80+'],
    ['0-9', '10-19', '20-29', '80+', '100-109'],
  ],
  [
    ['Q1 2024', 'Q2 2023', 'Q3 2023'],
    ['Q2 2023', 'Q3 2023', 'Q1 2024'],
  ],
  [
    ['Tue', 'Sun', 'Wed', 'Mon'],
    ['Mon', 'Tue', 'Wed', 'Sun'],
  ],
  // In row order: a year from July, one backwards, and labels without an order.
  [['Jul', 'Sep', 'Nov', 'Jan', 'Mar', 'May'], undefined],
  [['1.8.0', '1.9.0', '1.10.0', '1.11.0'], undefined],
  [['8 am', '10 am', '12 pm', '1 pm'], undefined],
  [['500 g', '1 kg', '2 kg'], undefined],
  [['1 day', '1-7 days', '1-4 weeks'], undefined],
  [['2024', '2023', '2022'], undefined],
  [['Mars', 'Jupiter', 'May'], undefined],
])('labels %j are in the order %j, and so are the points of their lines', (x, order) => {
  const line = { type: 'scatter', mode: 'lines', x, y: x.map((_, k) => k) }
  const { data, layout } = drawnOf([line, { ...line }], { xaxis: { type: 'category' } })
  expect(layout.xaxis.categoryarray).toEqual(order)
  expect(data[0].x).toEqual(order ?? x)
  expect(data[0].y).toEqual((order ?? x).map((label) => x.indexOf(label)))
})

it('a line that ends early is named there, and one without a value on the axis is in the legend', () => {
  const line = { type: 'scatter', mode: 'lines' }
  const [long, short] = [
    { ...line, name: 'long', x: [1, 2, 9], y: [3, 2, 1] },
    { ...line, name: 'short', x: [1, 2], y: [1, 10] },
  ]
  const { annotations } = drawnOf([long, short]).layout
  expect(annotations).toMatchObject([
    { xref: 'paper', x: 1 },
    { xref: 'x', x: 2, y: 10 },
  ])
  const none = { ...line, name: 'none', x: [1, 2], y: [-1, 0] }
  const { data, layout } = drawnOf([long, none], { yaxis: { type: 'log' } })
  expect([data[1].y, layout.showlegend]).toEqual([[null, null], true])
})

it('areas with negative values become lines, and shares omit them; notes say so', () => {
  const area = { type: 'scatter', mode: 'lines', stackgroup: 'one', x: [1, 2] }
  const areas = drawnOf([
    { ...area, y: [1, 2] },
    { ...area, y: [1, -2] },
  ])
  expect(areas.data.map(({ stackgroup, fill }) => [stackgroup, fill])).toEqual([
    [undefined, 'none'],
    [undefined, 'none'],
  ])
  expect(footIn(areas.layout)).toBe('Areas with values below zero are drawn as lines, not stacked')
  const bars = drawnOf([{ type: 'bar', x: ['a', 'b'], y: [3, -1] }], { barnorm: 'percent' })
  expect([bars.data[0].y, footIn(bars.layout)]).toEqual([[3, null], 'Not shown: 1 value below zero'])
  const lying = { type: 'bar', orientation: 'h', x: [3, -1], y: [-5, 6] }
  const flat = drawnOf([lying], { barnorm: 'percent' })
  expect([flat.data[0].x, flat.data[0].y, footIn(flat.layout)]).toEqual([
    [3, null],
    [-5, 6],
    'Not shown: 1 value below zero',
  ])
  for (const bar of [lying, { type: 'bar', x: ['a', 'b'], y: [3, -1] }]) {
    const centered = drawnOf([bar, { ...bar, name: 'more' }], { meta: { isCentered: true } })
    expect(footIn(centered.layout)).toBe('Not shown: 2 values below zero')
  }
})

it('a named stream is drawn whole: half of it is below zero', () => {
  const area = { type: 'scatter', mode: 'lines', stackgroup: 'one', x: [1, 2], y: [4, 6] }
  const names = ['Oslo', 'Rome']
  const named = names.map((name) => ({ ...area, name }))
  for (const isCentered of [false, true]) {
    const { data, layout } = drawnOf(named, { meta: { isCentered } })
    expect(layout.annotations.map(({ text }: Attributes) => text)).toEqual(expect.arrayContaining(names))
    // The first area moves the others.
    expect([layout.yaxis.rangemode, data[0].y]).toEqual(
      isCentered ? [undefined, [-4, -6]] : ['nonnegative', [4, 6]],
    )
  }
})

it('missing steps of a heatmap are empty, not covered by their neighbors', () => {
  const [{ x, z }] = drawnOf(
    [{ type: 'heatmap', x: [0, 1, 2, 5], y: ['a', 'a', 'a', 'a'], z: [1, 2, 3, 4] }],
    {
      yaxis: { type: 'category' },
    },
  ).data
  expect([x, z]).toEqual([
    [0, 1, 2, 5, 3, 4],
    [1, 2, 3, 4, null, null],
  ])
})

it('a table on a phone has shortened numbers, not cut ones', () => {
  const table = {
    type: 'table',
    header: { values: ['place', 'a', 'b', 'c', 'd'] },
    cells: {
      align: ['left', 'right', 'right', 'right', 'right'],
      values: [
        ['Llanfairpwllgwyngyllgogerychwyrndrobwll'],
        [3322360000000000],
        [1234567890],
        [1.5],
        [1234567],
      ],
    },
  }
  const { data } = applyTheme(
    { data: [table], layout: { meta: { theme: 'gridline' } } as Attributes },
    { scheme: 'light', width: 300, height: 400 },
  )
  const [[name], ...numbers] = (data[0] as Attributes).cells.values
  expect(name).toMatch(/^L.*…$/)
  expect(numbers.flat().map(String)).toEqual([
    expect.stringMatching(/^3,?322.*T$/),
    expect.stringMatching(/^1\.2.*B$/),
    '1.5',
    expect.any(String),
  ])
})

it('a radar of months is in calendar order, and its line is closed', () => {
  const radar = {
    type: 'scatterpolar',
    mode: 'lines+markers',
    theta: ['Mar', 'Jul', 'Jan', 'Nov'],
    r: [1, 2, 3, 4],
  }
  const { data } = drawnOf([radar], { meta: { chart: 'radar' }, polar: {} })
  expect([data[0].theta, data[0].r]).toEqual([
    ['Jan', 'Mar', 'Jul', 'Nov', 'Jan'],
    [3, 1, 2, 4, 3],
  ])
})

it('the points of a rose are at their compass direction', () => {
  const rose = { type: 'barpolar', theta: ['N', 'E', 'NE', 'S'], r: [1, 2, 3, 4] }
  const { angularaxis } = drawnOf([rose], { meta: { chart: 'rose' }, polar: {} }).layout.polar
  expect(angularaxis.categoryarray).toEqual(['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'])
})

it.each([
  ['a missing value', [1, 2, null, 4], [0, 0, 0, 7]],
  ['a text among numbers as texts', ['1', '2', 'n/a', '11.5'], [0, 0, 0, 7]],
  ['labels', ['low', 'high', 'n/a', '4'], undefined],
])('a point of a line that is alone after %s is a marker', (_, y, sizes) => {
  const drawn = {
    data: [{ type: 'scatter', mode: 'lines', x: [1, 2, 3, 4], y }],
    layout: { meta: { theme: 'gridline' } },
  }
  const { data } = applyTheme(drawn, { scheme: 'light', width: 640, height: 400 })
  expect((data[0] as Attributes).marker?.size).toEqual(sizes)
})

it.each([
  ['numbers from zero', [3, 0, null], {}, 'nonnegative'],
  ['a number below zero', [3, -1, 2], {}, undefined],
  ['a mark, which may be below zero', [3, 0, 2], { shapes: [{ type: 'line', y0: -5, y1: -5 }] }, undefined],
])('names at the ends of lines leave the axis above zero for %s', (_, y, more, rangemode) => {
  const lines = ['a', 'b'].map((name, k) => ({
    ...{ type: 'scatter', mode: 'lines', name, x: [1, 2, 3] },
    y: k === 0 ? [1, 2, 3] : y,
  }))
  const drawn = drawnOf(lines, { showlegend: true, ...more })
  expect([drawn.layout.showlegend, drawn.layout.yaxis.rangemode]).toEqual([false, rangemode])
})

it('the label of a vertical mark is on the side where it fits', () => {
  const mark = (x: number, text: string) => ({ name: MARK_NAME, x0: x, x1: x, label: { text } })
  const shapes = [
    mark(100, 'begin'),
    mark(280, 'end'),
    mark(290, 'wide '.repeat(20)),
    { type: 'rect', x0: 1, x1: 2 },
  ]
  const xaxis = { type: 'linear', domain: [0, 1], r2p: (x: number) => x, _length: 300 }
  const layout = { meta: { theme: 'gridline' }, margin: { l: 10 }, shapes }
  const chart = { _fullLayout: { _size: { l: 10, h: 200 }, xaxis }, layout }
  expect(needsMeasuring({ data: [], layout })).toBe(true)
  expect(measuredChanges(chart, furtherChanges)).toEqual({ 'shapes[1].label.xanchor': 'right' })
  expect(needsMeasuring({ data: [], layout: { ...layout, shapes: shapes.slice(3) } })).toBe(false)
})
