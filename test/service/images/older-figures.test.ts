// Conversion of figures of earlier plotly.js versions.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { upgradeFigure } from '../../../src/browser/upgrade-figure.ts'
import { defaultLimits } from '../../../src/contract/limits.ts'
import { Drawer } from '../../../src/draw/index.ts'
import { difference } from '../../support/png.ts'

let drawer: Drawer
beforeAll(() => {
  drawer = new Drawer({ maxMemoryBytes: defaultLimits.image_memory_bytes, timeoutSeconds: 30 })
})
afterAll(() => drawer.close())

const size = { format: 'png', width: 400, height: 300, scale: 1 } as const
const draw = (figure: object) => drawer.draw(Buffer.from(JSON.stringify(figure)), size)

const bar = { type: 'bar', x: ['a', 'b'], y: [1, 2] }
const heatmap = { x: [1, 2], y: [1, 2], z: [[1, 2], [3, 4]] } // biome-ignore format: a matrix
const font = { size: 30, color: 'red' }

/** A figure of an earlier version, and its conversion. */
const pairs: Record<string, [before: object, today: object]> = {
  'titles that are texts': [
    { data: [bar], layout: { title: 'Bars', xaxis: { title: 'Cat' }, yaxis: { title: 5 } } },
    {
      data: [bar],
      layout: { title: { text: 'Bars' }, xaxis: { title: { text: 'Cat' } }, yaxis: { title: { text: '5' } } },
    },
  ],
  'fonts of titles, before and after the title': [
    { data: [bar], layout: { titlefont: font, title: 'Bars', xaxis: { title: 'Cat', titlefont: font } } },
    { data: [bar], layout: { title: { text: 'Bars', font }, xaxis: { title: { text: 'Cat', font } } } },
  ],
  'titles of color bars': [
    { data: [{ type: 'heatmap', ...heatmap, colorbar: { title: 'Deg', titleside: 'right' } }], layout: {} },
    {
      data: [{ type: 'heatmap', ...heatmap, colorbar: { title: { text: 'Deg', side: 'right' } } }],
      layout: {},
    },
  ],
  'titles of pies': [
    { data: [{ type: 'pie', values: [1, 2], title: 'Pie', titleposition: 'bottom left' }], layout: {} },
    {
      data: [{ type: 'pie', values: [1, 2], title: { text: 'Pie', position: 'bottom left' } }],
      layout: {},
    },
  ],
  'titles in templates': [
    {
      data: [bar],
      layout: { title: 'T', template: { layout: { titlefont: font, xaxis: { title: 'Cat' } } } },
    },
    {
      data: [bar],
      layout: {
        title: { text: 'T' },
        template: { layout: { title: { font }, xaxis: { title: { text: 'Cat' } } } },
      },
    },
  ],
  'heatmaps with WebGL': [
    { data: [{ type: 'heatmapgl', ...heatmap }], layout: {} },
    { data: [{ type: 'heatmap', ...heatmap }], layout: {} },
  ],
  'contours with WebGL': [
    { data: [{ type: 'contourgl', ...heatmap }], layout: {} },
    { data: [{ type: 'contour', ...heatmap }], layout: {} },
  ],
  'directions of bars': [
    { data: [{ ...bar, bardir: 'h' }], layout: {} },
    { data: [{ ...bar, orientation: 'h', x: [1, 2], y: ['a', 'b'] }], layout: {} },
  ],
  'references of annotations': [
    {
      data: [bar],
      layout: { annotations: [{ ref: 'paper', x: 0.5, y: 0.5, text: 'here', showarrow: false }] },
    },
    {
      data: [bar],
      layout: {
        annotations: [{ xref: 'paper', yref: 'paper', x: 0.5, y: 0.5, text: 'here', showarrow: false }],
      },
    },
  ],
  'opacity of error bars': [
    { data: [{ ...bar, error_y: { array: [1, 1], color: '#ff0000', opacity: 0.3 } }], layout: {} },
    { data: [{ ...bar, error_y: { array: [1, 1], color: 'rgba(255, 0, 0, 0.3)' } }], layout: {} },
  ],
  'ticks that are not automatic': [
    { data: [bar], layout: { yaxis: { autotick: false, dtick: 0.5, tick0: 0 } } },
    { data: [bar], layout: { yaxis: { tickmode: 'linear', dtick: 0.5, tick0: 0 } } },
  ],
  'polar charts by radius and angle': [
    {
      data: [{ type: 'area', r: [1, 2, 3], t: ['N', 'E', 'S'] }],
      layout: { orientation: 270, radialaxis: { ticksuffix: '%', range: [0, 10] } },
    },
    {
      data: [{ type: 'barpolar', r: [1, 2, 3], theta: ['N', 'E', 'S'] }],
      layout: {
        polar: {
          ...{ barmode: 'overlay', bargap: 0, radialaxis: { ticksuffix: '%', range: [0, 10] } },
          angularaxis: { direction: 'clockwise', rotation: 90 },
        },
      },
    },
  ],
  'lines by radius and angle': [
    { data: [{ type: 'scatter', r: [1, 2, 3], t: [0, 90, 180] }], layout: {} },
    {
      data: [{ type: 'scatterpolar', r: [1, 2, 3], theta: [0, 90, 180] }],
      layout: { polar: { angularaxis: { direction: 'clockwise', rotation: 0 } } },
    },
  ],
}

describe('figures of earlier versions', () => {
  it.each(Object.entries(pairs))('%s', async (_, [before, today]) => {
    const drawn = await draw(today)
    expect(difference(await draw(before), drawn)).toBe(0)
  })

  it('map traces get the names of their successors', () => {
    const layout = { mapbox: { zoom: 3 }, mapbox2: { zoom: 4 } }
    const trace = { type: 'scattermapbox', lat: [1], lon: [2], subplot: 'mapbox2' }
    expect(upgradeFigure({ data: [trace], layout })).toEqual({
      data: [{ type: 'scattermap', lat: [1], lon: [2], subplot: 'map2' }],
      layout: { map: { zoom: 3 }, map2: { zoom: 4 } },
    })
  })

  it('point clouds become scatter points', () => {
    expect(
      upgradeFigure({
        data: [{ type: 'pointcloud', xy: [1, 2, 3, 4], marker: { color: 'red' } }],
        layout: {},
      }).data,
    ).toEqual([
      { type: 'scattergl', x: [1, 3], y: [2, 4], mode: 'markers', marker: { size: 1, color: 'red' } },
    ])
  })

  it('titles in custom data, metadata and maps are not converted', () => {
    const figure = {
      data: [{ ...bar, customdata: [{ title: 'x' }], meta: { title: 'y' } }],
      layout: { meta: { title: 'z' }, map: { layers: [{ source: { properties: { title: 'q' } } }] } },
      frames: [{ name: 'f', layout: { title: 'F' } }, null],
    }
    expect(upgradeFigure(figure)).toEqual({
      ...figure,
      frames: [{ name: 'f', layout: { title: { text: 'F' } } }, null],
    })
  })

  it('current attributes win over old ones, in any order', () => {
    const title = { text: 't', font: { size: 20 } }
    for (const layout of [
      { titlefont: { size: 10 }, title },
      { title, titlefont: { size: 10 } },
    ])
      expect(upgradeFigure({ data: [], layout }).layout).toEqual({ title })
  })

  it('buttons that change titles and fonts are converted', () => {
    const button = (args: unknown[]) => ({ updatemenus: [{ buttons: [{ args }] }] })
    for (const [before, today] of [
      [
        ['title', 'New'],
        ['title.text', 'New'],
      ],
      [
        ['xaxis.title', 'New'],
        ['xaxis.title.text', 'New'],
      ],
      [[{ title: 'New' }], [{ 'title.text': 'New' }]],
      [
        [{ visible: [true] }, { 'xaxis.titlefont.size': 3 }],
        [{ visible: [true] }, { 'xaxis.title.font.size': 3 }],
      ],
      [[{ yaxis: { title: 'Y' } }], [{ yaxis: { title: { text: 'Y' } } }]],
      [[{ title: { text: 'New' } }], [{ title: { text: 'New' } }]],
    ])
      expect(upgradeFigure({ data: [], layout: button(before) }).layout).toEqual(button(today))
  })

  it('templates list traces by current types', () => {
    const template = {
      data: { scattermapbox: [{ marker: { size: 9 } }], surface: [{ zmin: 1 }], bar: [null] },
    }
    expect(upgradeFigure({ data: [], layout: { template } }).layout).toEqual({
      template: { data: { scattermap: [{ marker: { size: 9 } }], surface: [{ cmin: 1 }], bar: [null] } },
    })
  })

  it('hostile figures change no prototype', () => {
    const text =
      '{"data":[{"__proto__":{"title":"x"},"type":{"toString":1}}],"layout":{"__proto__":{"title":"x"}}}'
    const { data, layout } = upgradeFigure(JSON.parse(text))
    expect([data[0].title, layout.title, ({} as { title?: string }).title]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it('values that are not figures are left to plotly.js', () => {
    for (const figure of [
      { data: 'no', layout: 3 },
      { data: [null, 1, 'x'], layout: { annotations: [null], xaxis: 'x', template: 'white' } },
    ])
      expect(upgradeFigure(figure)).toEqual(figure)
  })
})
