// Alt text of charts in a browser.
import { expect, it } from 'vitest'
import { describeChart } from '../../src/browser/alt-text.ts'

it.each([
  [{ y: [1, -5, null, 9] }, {}, 'lowest -5, highest 9'],
  [{ y: [1, -5, 9] }, { yaxis: { type: 'log' } }, 'lowest 1, highest 9'],
  [{ x: ['2024-01-01', null], y: [1, 60] }, {}, 'value 1'],
  [{ x: [1, 2], y: ['a', 'b'], orientation: 'h' }, { yaxis: { type: 'log' } }, 'lowest 1, highest 2'],
])('the extremes of %j with %j are %j', (trace, layout, expected) => {
  expect(describeChart({ data: [{ type: 'scatter', ...trace }], layout })).toContain(expected)
})

it.each([
  [{ groupnorm: 'percent' }, {}],
  [{}, { barnorm: 'percent' }],
])('shares have no extremes: %j, %j', (trace, layout) => {
  expect(describeChart({ data: [{ type: 'bar', y: [1, 4], ...trace }], layout })).not.toContain('highest')
})
