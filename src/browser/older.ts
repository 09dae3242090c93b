// Figures of earlier versions of plotly.js, as its present version draws them. The rows of these tables are the removals
// that the changelog of plotly.js names for versions 2.0, 3.0 and 4.0. Figures are stored as they came.

// biome-ignore lint/suspicious/noExplicitAny: a figure can have any attribute
type Attributes = Record<string, any>

/** Attributes that became part of a title, at any depth. */
const IN_TITLE: Readonly<Record<string, string>> = {
  titlefont: 'font',
  titleside: 'side',
  titleposition: 'position',
  titleoffset: 'offset',
}

/** Types of traces that were replaced, and how the attributes of a trace change with its type. */
const TYPES: Readonly<Record<string, [type: string, change?: (trace: Attributes) => Attributes]>> = {
  heatmapgl: ['heatmap'],
  contourgl: ['contour'],
  pointcloud: ['scattergl', pointcloud],
  scattermapbox: ['scattermap', onMap],
  choroplethmapbox: ['choroplethmap', onMap],
  densitymapbox: ['densitymap', onMap],
  area: ['barpolar', polar],
}

/** Attributes of traces that have other names now: by type of trace, or for all (`*`). */
const RENAMED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '*': { scl: 'colorscale', reversescl: 'reversescale' },
  surface: { zauto: 'cauto', zmin: 'cmin', zmax: 'cmax' },
}

/** Contents of these are data, in which a title is a text like any other. */
const DATA_KEYS = new Set(['meta', 'customdata', 'geojson', 'source', 'ids'])

/** The figure with today's attributes. What is not a figure is unchanged. */
export function withToday<T extends { data: unknown; layout: unknown }>(figure: T): T {
  const { frames } = figure as { frames?: unknown }
  return {
    ...(drawable(figure) as object),
    ...(Array.isArray(frames) && { frames: frames.map(drawable) }),
  } as T
}

/** A figure, or a frame of one, which may have data or a layout alone. */
function drawable(given: unknown): unknown {
  if (!isObject(given)) return given
  const { data, layout } = given
  return {
    ...given,
    ...(Array.isArray(data) && { data: data.map(traceOf) }),
    ...(isObject(layout) && { layout: layoutOf(layout) }),
  }
}

function traceOf(given: unknown): unknown {
  if (!isObject(given)) return given
  let trace = withTitles(given)
  if (isLegacyPolar(trace))
    trace = polar({ ...trace, type: trace.type === 'bar' ? 'barpolar' : 'scatterpolar' })
  const [type, change] =
    isText(trace.type) && Object.hasOwn(TYPES, trace.type) ? TYPES[trace.type] : [trace.type]
  if (type !== trace.type) trace = { ...(change?.(trace) ?? trace), type }
  if (trace.bardir !== undefined) trace = withOrientation(trace)
  const names = { ...RENAMED['*'], ...(isText(type) && Object.hasOwn(RENAMED, type) ? RENAMED[type] : {}) }
  for (const [before, after] of Object.entries(names)) {
    if (trace[before] === undefined) continue
    const { [before]: value, ...rest } = trace
    trace = { [after]: value, ...rest }
  }
  for (const key of ['error_x', 'error_y', 'error_z'])
    if (isObject(trace[key])) trace[key] = errorBars(trace[key])
  return trace
}

/** Attributes that changed places when bars were horizontal: `bardir` was written beside those of vertical ones. */
const OF_X = /^(?:x(?:src|0|bins|calendar)?|dx|nbinsx|autobinx|error_x)$/

/** Horizontal bars of `bardir: 'h'` had their places in `x`; those of `orientation` have them in `y`. */
function withOrientation({ bardir, ...trace }: Attributes): Attributes {
  const { type } = trace
  if (bardir !== 'h' || (type !== 'bar' && !String(type).startsWith('histogram'))) return trace
  const turned: Attributes = { orientation: 'h' }
  for (const [key, value] of Object.entries(trace)) {
    const other = key.replace(/[xy](?=src$|0$|bins$|calendar$|$)/, (letter) => (letter === 'x' ? 'y' : 'x'))
    turned[OF_X.test(key) || OF_X.test(other) ? other : key] = value
  }
  return turned
}

function layoutOf(given: Attributes): Attributes {
  const layout = withTitles(given)
  for (const [key, value] of Object.entries(layout)) {
    if (/^[xy]axis\d*$/.test(key) && isObject(value)) layout[key] = axisOf(value)
    if (/^scene\d*$/.test(key) && isObject(value)) layout[key] = sceneOf(value)
    // The subplot of the new types of maps.
    const [, number] = /^mapbox(\d*)$/.exec(key) ?? []
    if (number !== undefined) {
      layout[`map${number}`] ??= value
      delete layout[key]
    }
  }
  if (Array.isArray(layout.annotations)) layout.annotations = layout.annotations.map(annotationOf)
  const { template } = layout
  if (isObject(template)) {
    const next = { ...template }
    if (isObject(template.layout)) next.layout = layoutOf(template.layout)
    if (isObject(template.data)) {
      // Its traces are listed by type.
      next.data = {}
      for (const [type, traces] of Object.entries(template.data)) {
        const today = Object.hasOwn(TYPES, type) ? TYPES[type][0] : type
        if (Array.isArray(traces) && type !== '__proto__')
          next.data[today] ??= traces.map((one) => templateOf(type, one))
      }
    }
    layout.template = next
  }
  return layout
}

/** A trace of a template, which has no type of its own. */
function templateOf(type: string, trace: unknown): unknown {
  if (!isObject(trace)) return trace
  const { type: _, ...rest } = traceOf({ ...trace, type }) as Attributes
  return rest
}

/** A copy in which titles are objects, as deep as there are any. Arrays of values are not walked. */
function withTitles(given: Attributes): Attributes {
  const copy: Attributes = {}
  for (const [key, value] of Object.entries(given)) {
    // Assigned, it would be the prototype of the copy.
    if (key === '__proto__') continue
    if (DATA_KEYS.has(key)) copy[key] = value
    else if ((key === 'args' || key === 'args2') && Array.isArray(value)) copy[key] = argumentsOf(value)
    else if (key === 'title' && isText(value)) copy.title = { ...copy.title, text: String(value) }
    else if (key === 'title' && isObject(value)) copy.title = { ...copy.title, ...withTitles(value) }
    else if (Object.hasOwn(IN_TITLE, key)) {
      const title = isText(copy.title) ? { text: String(copy.title) } : copy.title
      // What a present attribute says goes before.
      copy.title = { [IN_TITLE[key]]: value, ...title }
    } else if (isObject(value)) copy[key] = withTitles(value)
    else if (Array.isArray(value) && value.some(isObject))
      copy[key] = value.map((one) => (isObject(one) ? withTitles(one) : one))
    else copy[key] = value
  }
  return copy
}

/**
 * What a button or a slider passes on: attributes by their paths, or one path and its value. A title that is a text
 * changes the text alone, as it did.
 */
function argumentsOf(values: readonly unknown[]): unknown[] {
  const [path, value] = values
  if (typeof path === 'string') return [todaysPath(path, value), ...values.slice(1)]
  return values.map((one) =>
    isObject(one)
      ? Object.fromEntries(
          Object.entries(one).map(([key, inner]) => [
            todaysPath(key, inner),
            isObject(inner) ? withTitles(inner) : inner,
          ]),
        )
      : one,
  )
}

/** `xaxis.title` → `xaxis.title.text`, `titlefont.size` → `title.font.size`. */
function todaysPath(path: string, value: unknown): string {
  if (/(^|\.)title$/.test(path) && (isText(value) || Array.isArray(value))) return `${path}.text`
  return path.replace(
    /(^|\.)(titlefont|titleside|titleposition|titleoffset)(?=\.|$)/,
    (_, before, name) => `${before}title.${IN_TITLE[name]}`,
  )
}

function axisOf({ autotick, ...axis }: Attributes): Attributes {
  if (typeof autotick !== 'boolean' || axis.tickmode !== undefined) return axis
  return { ...axis, tickmode: autotick ? 'auto' : axis.tickvals === undefined ? 'linear' : 'array' }
}

function sceneOf(scene: Attributes): Attributes {
  const axes = Object.entries(scene).filter(([key, value]) => /^[xyz]axis$/.test(key) && isObject(value))
  const { cameraposition, ...rest } = scene
  const camera = cameraOf(cameraposition)
  return {
    ...(camera ? { ...rest, camera } : scene),
    ...Object.fromEntries(axes.map(([key, axis]) => [key, axisOf(axis)])),
  }
}

/** A camera that was given as its rotation (a quaternion), what it looks at, and how far away it is. */
function cameraOf(given: unknown): Attributes | undefined {
  if (!Array.isArray(given)) return undefined
  const [rotation, center, radius] = given
  if (!isNumbers(rotation, 4) || !isNumbers(center, 3) || typeof radius !== 'number') return undefined
  const [x, y, z, w] = rotation
  // Where the rotation turns the axis of depth.
  const depth = [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]
  const point = ([a, b, c]: readonly number[]): Attributes => ({ x: a, y: b, z: c })
  return {
    eye: point(center.map((one, k) => one + radius * depth[k])),
    center: point(center),
    up: { x: 0, y: 0, z: 1 },
  }
}

function isNumbers(value: unknown, count: number): value is number[] {
  return Array.isArray(value) && value.length === count && value.every((one) => typeof one === 'number')
}

function annotationOf(annotation: unknown): unknown {
  if (!isObject(annotation) || annotation.ref === undefined) return annotation
  const { ref, ...rest } = annotation
  const isPaper = ref === 'paper'
  return { xref: isPaper ? 'paper' : 'x', yref: isPaper ? 'paper' : 'y', ...rest }
}

/** The opacity of error bars is that of their color. */
function errorBars({ opacity, ...bars }: Attributes): Attributes {
  const color = isText(bars.color) ? String(bars.color) : ''
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(color)
  const rgb = hex
    ? hex.slice(1).map((pair) => Number.parseInt(pair, 16))
    : /^rgb\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)$/.exec(color)?.slice(1)
  if (typeof opacity !== 'number' || !rgb) return bars
  return { ...bars, color: `rgba(${rgb.join(', ')}, ${opacity})` }
}

function pointcloud({ xy, marker, ...trace }: Attributes): Attributes {
  const { sizemin = 0.5, sizemax: _, blend: __, border, ...rest } = isObject(marker) ? marker : {}
  const pairs = Array.isArray(xy) || ArrayBuffer.isView(xy) ? Array.from(xy as ArrayLike<number>) : undefined
  return {
    ...trace,
    ...(pairs && { x: pairs.filter((_, k) => k % 2 === 0), y: pairs.filter((_, k) => k % 2 === 1) }),
    mode: 'markers',
    marker: {
      size: Math.max(2 * sizemin, 1),
      ...rest,
      ...(isObject(border) && border.color !== undefined && { line: { color: border.color, width: 1 } }),
    },
  }
}

function onMap(trace: Attributes): Attributes {
  const { subplot } = trace
  return typeof subplot === 'string' ? { ...trace, subplot: subplot.replace(/^mapbox/, 'map') } : trace
}

/** Points and bars with an angle `t` and a radius `r`, from before there were types of their own. */
function isLegacyPolar({ type = 'scatter', r, t, x, y }: Attributes): boolean {
  return (type === 'scatter' || type === 'bar') && r !== undefined && t !== undefined && !x && !y
}

function polar({ t, ...trace }: Attributes): Attributes {
  return t === undefined ? trace : { theta: t, ...trace }
}

function isObject(value: unknown): value is Attributes {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value)
}

function isText(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}
