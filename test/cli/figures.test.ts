// Figures in pages.
import { describe, expect, it } from 'vitest'
import { findFigures } from '../../src/cli/charts/figures.ts'

const find = async (...calls: string[]): Promise<{ figures: unknown[]; unread: number }> => {
  const html = `<html>${calls.map((call) => `<script>${call}</script>`).join('')}</html>`
  const { figures, unread } = await findFigures(html, 'page.html')
  return { figures: figures.map((text) => JSON.parse(text)), unread }
}

describe('figures in pages', () => {
  it.each([
    ['traces and a layout', 'Plotly.newPlot("a", [{"y":[1]}], {"title":"t"}, {responsive: true});'],
    ['a figure as an object', 'Plotly.newPlot("a", {"data":[{"y":[1]}],"layout":{"title":"t"}})'],
    ['react', 'Plotly.react("a", [{"y":[1]}], {"title":"t"})'],
  ])('%s', async (_, call) => {
    const figure = { data: [{ y: [1] }], layout: { title: 't' } }
    expect(await find(call)).toEqual({ figures: [figure], unread: 0 })
  })

  it.each([
    'Plotly.newPlot("a", [{"y":[1]}])',
    'Plotly.newPlot("a", [{"y":[1]}], undefined, {})',
    'Plotly.newPlot("a", [{"y":[1]}], null)',
  ])('a chart without a layout: %s', async (call) => {
    expect(await find(call)).toEqual({ figures: [{ data: [{ y: [1] }] }], unread: 0 })
  })

  it.each([
    'Plotly.newPlot("a", [{"y":[1]}], layout)',
    'Plotly.newPlot("a", [{"y":[1]}], makeLayout({}))',
    'Plotly.newPlot("a", [{"y":[1]}], {title: "t"})',
    'Plotly.newPlot("a", data, {})',
    'Plotly.newPlot("a", {"data": data})',
    'Plotly.newPlot("a", {"rows": 3})',
  ])('a chart of which a part is not JSON is not drawn without it: %s', async (call) => {
    expect(await find(call)).toEqual({ figures: [], unread: 1 })
  })

  it('a change of a chart that is drawn before is not another chart', async () => {
    const { figures, unread } = await find(
      'Plotly.newPlot("a", [{"y":[1]}], {})',
      'Plotly.react("a", [{"y":[2]}], {})',
      'Plotly.react("b", data)',
    )
    expect([figures, unread]).toEqual([[{ data: [{ y: [1] }], layout: {} }], 0])
  })

  it('frames that are added later belong to the chart, also if that is an object', async () => {
    const frames = 'Plotly.addFrames("a", [{"name":"f"}])'
    for (const call of ['Plotly.newPlot("a", [{"y":[1]}])', 'Plotly.newPlot("a", {"data":[{"y":[1]}]})'])
      expect(await find(`${call}.then(() => ${frames})`)).toEqual({
        figures: [{ data: [{ y: [1] }], frames: [{ name: 'f' }] }],
        unread: 0,
      })
  })

  it('the script that draws a widget of R is not another chart', async () => {
    const widget = JSON.stringify({ x: { data: [{ y: [1] }], layout: {} } })
    const html = `<script type="application/json" data-for="w">${widget}</script><script>Plotly.newPlot(graphDiv, x)</script>`
    const { figures, unread } = await findFigures(html, 'r.html')
    expect([figures.length, unread]).toEqual([1, 0])
  })

  it('calls without an end cost no time', async () => {
    for (const call of ['Plotly.react("a",[', 'Plotly.newPlot("a",['])
      await findFigures(`<html><script>${call.repeat(5_000)}</script></html>`, 'page.html')
  })

  it('numbers that are not finite are gaps, as in a figure', async () => {
    const { figures } = await find(
      'Plotly.newPlot("a", [{"y":[NaN,-Infinity,2],"text":["NaN","Infinity"]}], {})',
    )
    expect(figures).toEqual([{ data: [{ y: [null, null, 2], text: ['NaN', 'Infinity'] }], layout: {} }])
  })
})
