/// <reference lib="dom" />
// Makes a chart of a grid, as `gridline plot create --grid` does: the type that fits best, with others to choose from.
import { compileChart } from '../charts/compile/compile.ts'
import { completeFromGrid } from '../charts/create-chart.ts'
import type { Figure } from '../charts/figure/figure.ts'
import { groupColumnsByKind } from '../charts/normalize/choose-type.ts'
import { isAmount } from '../charts/normalize/measures.ts'
import type { ChartGrid, ChartOptions } from '../charts/spec/options.ts'
import { parseColumnNames } from '../charts/spec/parse-names.ts'
import type { ChartType } from '../charts/spec/types.ts'
import { Problem } from '../contract/errors.ts'
import { call, createChartClient, formatError, request } from './api.ts'
import { create, createButton, onAction, openDialog, runOnce } from './dom.ts'
import { ChartFrame } from './edit/chart-frame.ts'
import { FigureData } from './edit/figure-data.ts'

/** Maximum number of other types that are shown. */
const MAX_OTHERS = 3
/** Maximum number of characters of the grid name in the name of its chart: names have a limit. */
const MAX_NAME_CHARACTERS = 200

/** A chart that can be made. */
interface Candidate {
  type: ChartType
  /** Why the type was chosen, or what it would show. */
  reason: string
  options: ChartOptions
}

/** Compiles the charts of a grid. */
class ChartMaker {
  private readonly client = createChartClient()
  private readonly data = new FigureData()

  constructor(
    private readonly grid: ChartGrid,
    private readonly options: ChartOptions,
  ) {}

  /** Returns the type that fits best, and others that can be drawn. */
  async listCandidates(): Promise<Candidate[]> {
    const { client, grid, options } = this
    const best = await completeFromGrid(client, grid, undefined, { ...options })
    const others = await Promise.all(
      best.suggestions.map(({ type, shows, columns }) =>
        this.complete(type, shows, { ...options, ...columns }),
      ),
    )
    return [
      { type: best.type, reason: best.reason ?? '', options: best.options },
      ...others.filter((other) => other !== undefined).slice(0, MAX_OTHERS),
    ]
  }

  /** Fills in the columns of a type; several rows at one label are combined. Undefined if it cannot be drawn. */
  private async complete(
    type: ChartType,
    reason: string,
    columns: ChartOptions,
  ): Promise<Candidate | undefined> {
    const { cols } = this.grid
    const [shown = groupColumnsByKind(cols).numbers[0]?.name ?? ''] = parseColumnNames(
      columns.y ?? '',
      cols.map(({ name }) => name),
    )
    const aggregate = isAmount(shown) ? 'sum' : 'mean'
    for (const more of [{}, { aggregate } as const]) {
      try {
        const { options } = await completeFromGrid(this.client, this.grid, type, { ...columns, ...more })
        const candidate = {
          type,
          reason: 'aggregate' in more ? `${reason} (${aggregate === 'sum' ? 'sums' : 'means'})` : reason,
          options,
        }
        await this.compile(candidate)
        return candidate
      } catch (error) {
        if (!(error instanceof Problem)) throw error
      }
    }
    return undefined
  }

  compile({ type, options }: Candidate): Promise<Figure> {
    return compileChart(this.client, this.grid, type, { ...options }, { note: () => {} })
  }

  /** Returns the figure with its data, in small. */
  async draw(candidate: Candidate, isSmall: boolean): Promise<Figure> {
    const { data, layout } = await this.data.evaluate(await this.compile(candidate))
    if (!isSmall) return { data, layout }
    const { title: _, annotations: __, ...rest } = layout
    return { data, layout: { ...rest, showlegend: false } }
  }
}

/** Creates a frame that draws a figure. It is loaded once, and draws what it is given. */
function createPicture(figure: Promise<Figure>, label: string, signal: AbortSignal): HTMLElement {
  const element = create('iframe', { class: 'chart', src: '/newchart/preview', title: label })
  const onReady = (): Promise<void> =>
    figure.then(
      (drawn) => frame.show(drawn),
      (error) => element.replaceWith(create('p', { class: 'note' }, formatError(error))),
    )
  const frame = new ChartFrame(element, false, { onReady }, signal)
  return element
}

/** Opens the dialog in which a chart of a grid is chosen. `parent`: id of the folder of the chart. */
async function openChartDialog(
  fid: string,
  where: string | undefined,
  parent: number | undefined,
): Promise<void> {
  const closing = new AbortController()
  const dialog = openDialog('Make a chart', { isWide: true, onClose: () => closing.abort() })
  let isMaking = false
  dialog.say('Looking at the columns …')
  try {
    const grid: ChartGrid = await call('grids.get', { path: { fid } })
    const maker = new ChartMaker(grid, where === undefined ? {} : { where })
    const candidates = await maker.listCandidates()
    dialog.say('')
    showCandidates(candidates[0])

    function showCandidates(chosen: Candidate): void {
      const others = candidates.filter((candidate) => candidate !== chosen)
      const make = createButton('Make this chart', () => runOnce([make], () => makeChart(chosen)), {
        class: 'primary',
      })
      const choices = others.map((other) => {
        const button = createButton('', () => !isMaking && showCandidates(other), { class: 'choice' })
        const picture = createPicture(maker.draw(other, true), other.type, closing.signal)
        picture.tabIndex = -1
        picture.inert = true
        button.append(picture, create('b', {}, other.type), create('span', {}, other.reason))
        return create('li', {}, button)
      })
      dialog.body.replaceChildren(
        create('p', {}, create('b', {}, chosen.type), `: ${chosen.reason}`),
        createPicture(maker.draw(chosen, false), chosen.type, closing.signal),
        create('p', { class: 'actions' }, make),
        ...(choices.length > 0 ? [create('h3', {}, 'Or')] : []),
        create('ul', { class: 'choices' }, ...choices),
      )
      make.focus()
    }

    async function makeChart(chosen: Candidate): Promise<void> {
      dialog.say('Making the chart …')
      isMaking = true
      try {
        const body = {
          figure: await maker.compile(chosen),
          raw_data: 'grid',
          filename: `${grid.filename.slice(0, MAX_NAME_CHARACTERS).replace(/\p{Surrogate}$/u, '')} ${chosen.type}`,
          on_conflict: 'rename',
          ...(parent !== undefined && parent >= 0 && { parent }),
        }
        const headers = { 'content-type': 'application/json' }
        const response = await request('plots.create', { headers, body: JSON.stringify(body) })
        const { file } = await response.json()
        // Use the path only: the page may use another host name.
        location.assign(`${new URL(file.web_url).pathname}#edit`)
      } catch (error) {
        isMaking = false
        dialog.say(`No chart was made: ${formatError(error)}`)
      }
    }
  } catch (error) {
    dialog.say(`No chart can be made: ${formatError(error)}`)
  }
}

onAction({
  make: ({ dataset: { fid = '', where, parent } }) => {
    // Loading the page again does not ask again.
    history.replaceState(null, '', location.pathname + location.search)
    return openChartDialog(fid, where, parent === undefined ? undefined : Number(parent))
  },
})
