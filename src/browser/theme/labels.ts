// Labels of axes and names of series are the texts of the data: plotly.js would read markup in them.
import { NO_LABEL } from '../../charts/names.ts'
import { escapedMarkup } from '../../contract/markup.ts'
import { type Attributes, type Draft, listOf } from './draft.ts'

/** Shows labels and names as they are, and rows without a label under a label of their own. */
export function writeLabels(draft: Draft): void {
  const { data, layout } = draft
  const isLabels = (letter: 'x' | 'y', id: unknown): boolean =>
    layout[`${letter}axis${String(id ?? letter).slice(1)}`]?.type === 'category'
  for (const [k, given] of data.entries()) {
    const trace = { ...given }
    if (typeof trace.name === 'string') trace.name = escapedMarkup(trace.name)
    for (const [letter, other] of [
      ['x', 'y'],
      ['y', 'x'],
    ] as const)
      if (isLabels(letter, trace[`${letter}axis`])) trace[letter] = written(trace[letter], trace[other])
    if (trace.type === 'pie') trace.labels = written(trace.labels, trace.values)
    data[k] = trace
  }
  for (const key of ['shapes', 'annotations'])
    if (Array.isArray(layout[key]))
      layout[key] = layout[key].map((one: Attributes) => {
        const moved = { ...one }
        for (const letter of ['x', 'y'] as const) {
          if (!isLabels(letter, one[`${letter}ref`] ?? letter)) continue
          for (const end of [letter, `${letter}0`, `${letter}1`])
            if (typeof one[end] === 'string') moved[end] = escapedMarkup(one[end])
        }
        return moved
      })
}

/** `values`: what is drawn at the labels; without one, nothing is drawn, and there is no label. */
function written(labels: unknown, values: unknown): unknown {
  const list = listOf(labels)
  if (list.length === 0) return labels
  const drawn = listOf(values)
  const isDrawn = (at: number): boolean => drawn.length === 0 || (drawn[at] ?? undefined) !== undefined
  return Array.from(list, (label, at) => {
    if (typeof label === 'string') return escapedMarkup(label)
    return (label === null || label === undefined) && isDrawn(at) ? NO_LABEL : label
  })
}
