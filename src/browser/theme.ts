// How charts look that Gridline makes from columns, and that name no template of their own: see docs/guide.md#looks.

// biome-ignore lint/suspicious/noExplicitAny: a figure can have any attribute
type Attributes = Record<string, any>

/** The name of the theme, in `layout.meta.theme`. */
const THEME = 'gridline'
/** Colors of series: told apart with each kind of color blindness, on white and on the dark ground. */
export const COLORS = '#2f6fd6 #d95f1e #25a269 #d40039 #8d8cd4 #b81b94 #9513ff #c2759b'.split(' ')
/** Viridis, from dark to light: equal steps of values are equal steps to the eye. */
const SEQUENTIAL = '#440154 #482878 #3e4989 #31688e #26828e #1f9e89 #35b779 #6ece58 #b5de2b #fde725'.split(
  ' ',
)

export const GROUNDS = {
  light: { ground: '#ffffff', text: '#22262b', soft: '#59636e', line: '#dfe3e8' },
  dark: { ground: '#16181d', text: '#e3e6ea', soft: '#9aa4af', line: '#343a42' },
} as const

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
/** Height of the title, and of a line of the legend, in pixels. */
const TITLE_PIXELS = 58
const LEGEND_PIXELS = 26
const EDGE_PIXELS = 20
/** Height of each further line of the title, and width of its characters, in pixels. */
const TITLE_LINE_PIXELS = 24
const TITLE_CHARACTER_PIXELS = 10
/** Height of the names of small charts, below the legend, in pixels. */
const FACET_PIXELS = 24
/** Width of a character of the legend, and of what is beside its text, in pixels. */
const CHARACTER_PIXELS = 7
const ENTRY_PIXELS = 48

/** The layout of a figure in our theme; unchanged for figures that do not ask for it, or that bring a template. */
export function themed(
  { data, layout }: { data: readonly Attributes[]; layout: Attributes },
  isDark: boolean,
  width: number,
): Attributes {
  if (layout.meta?.theme !== THEME || layout.template !== undefined) return layout
  const names = layout.showlegend === true ? legendOf(data) : []
  const entries = names.reduce((sum, name) => sum + name.length * CHARACTER_PIXELS + ENTRY_PIXELS, 0)
  const rows = names.length === 0 ? 0 : Math.ceil(entries / Math.max(200, width - 80))
  const lines = typeof layout.title?.text === 'string' ? wrapped(layout.title.text, width) : []
  const above = layout.legend?.y > 1 ? FACET_PIXELS : 0
  const top =
    (lines.length > 0 ? TITLE_PIXELS + (lines.length - 1) * TITLE_LINE_PIXELS : EDGE_PIXELS) +
    rows * LEGEND_PIXELS +
    above
  const margin = { l: 12, r: EDGE_PIXELS, b: 12, t: top, ...layout.margin }
  const title = lines.length > 1 ? { title: { ...layout.title, text: lines.join('<br>') } } : {}
  return { ...layout, ...title, margin, template: templateOf(isDark ? 'dark' : 'light', lineOf(data)) }
}

/** The lines of a title that fits a width. One with markup stays as it is. */
function wrapped(text: string, width: number): string[] {
  const most = Math.max(12, Math.floor((width - 32) / TITLE_CHARACTER_PIXELS))
  if (text === '') return []
  if (text.length <= most || /<[a-z/]/i.test(text)) return [text]
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines[lines.length - 1]
    if (line !== '' && line.length + word.length >= most) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}

function legendOf(data: readonly Attributes[]): string[] {
  return data.filter(({ showlegend }) => showlegend !== false).map(({ name }) => String(name ?? ''))
}

/** Width of lines, in pixels: thinner where points are dense. */
function lineOf(data: readonly Attributes[]): number {
  const most = Math.max(
    0,
    ...data.map(({ x, y }) => (Array.isArray(x) ? x.length : Array.isArray(y) ? y.length : 0)),
  )
  return most > DENSE_POINTS ? 1.5 : 2.5
}

const DENSE_POINTS = 400

function templateOf(scheme: keyof typeof GROUNDS, lineWidth: number): Attributes {
  const { ground, text, soft, line } = GROUNDS[scheme]
  const axis = {
    automargin: true,
    zeroline: false,
    tickcolor: line,
    tickfont: { color: soft },
    title: { font: { color: soft, size: 13 } },
  }
  const scale = SEQUENTIAL.map((color, k) => [k / (SEQUENTIAL.length - 1), color])
  return {
    layout: {
      paper_bgcolor: ground,
      plot_bgcolor: ground,
      font: { family: FONT, size: 13, color: text },
      colorway: COLORS,
      colorscale: { sequential: scale, sequentialminus: scale },
      title: {
        x: 0,
        xref: 'container',
        xanchor: 'left',
        y: 1,
        yref: 'container',
        yanchor: 'top',
        pad: { l: 16, t: 16 },
        font: { size: 18 },
      },
      xaxis: { ...axis, showgrid: false, showline: true, linecolor: soft, ticks: 'outside' },
      yaxis: { ...axis, gridcolor: line, ticks: '' },
      legend: { orientation: 'h', x: 0, xanchor: 'left', y: 1, yanchor: 'bottom', bgcolor: 'rgba(0,0,0,0)' },
      hoverlabel: { font: { family: FONT } },
      bargap: 0.2,
    },
    data: {
      // More series than colors: the next ones are dashed, or hatched.
      scatter: [
        ...COLORS.map(() => ({ line: { width: lineWidth } })),
        ...COLORS.map(() => ({ line: { width: lineWidth, dash: 'dash' } })),
      ],
      heatmap: [{ colorscale: scale, colorbar: { outlinewidth: 0, thickness: 14 } }],
      bar: [
        ...COLORS.map(() => ({ marker: { line: { width: 0 } } })),
        ...COLORS.map(() => ({ marker: { line: { width: 0 }, pattern: { shape: '/' } } })),
      ],
      pie: [{ marker: { line: { color: ground, width: 1 } }, textinfo: 'label+percent', showlegend: false }],
    },
  }
}
