// Converts figures of plotly.js 1 to 3 when they are drawn.
// The tables list the removals in its changelog for versions 2.0, 3.0 and 4.0. Stored figures are unchanged.

// biome-ignore lint/suspicious/noExplicitAny: a figure can have any attribute
type Attributes = Record<string, any>

/** Attributes that moved into `title`, at any depth. */
const IN_TITLE: Readonly<Record<string, string>> = {
  titlefont: 'font',
  titleside: 'side',
  titleposition: 'position',
  titleoffset: 'offset',
}

/** Trace types that were replaced, with the conversion of their attributes. */
const TYPES: Readonly<Record<string, [type: string, change?: (trace: Attributes) => Attributes]>> = {
  heatmapgl: ['heatmap'],
  contourgl: ['contour'],
  pointcloud: ['scattergl', pointcloud],
  scattermapbox: ['scattermap', onMap],
  choroplethmapbox: ['choroplethmap', onMap],
  densitymapbox: ['densitymap', onMap],
  area: ['barpolar', polar],
}

/** Renamed trace attributes, by trace type; `*` for all types. */
const RENAMED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '*': { scl: 'colorscale', reversescl: 'reversescale' },
  surface: { zauto: 'cauto', zmin: 'cmin', zmax: 'cmax' },
}

/** Members that hold data: a title in them is not converted. */
const DATA_KEYS = new Set(['meta', 'customdata', 'geojson', 'source', 'ids'])

/** Returns a figure with the current attributes; anything else unchanged. */
export function withToday<T extends { data: unknown; layout: unknown }>(figure: T): T {
  const { frames } = figure as { frames?: unknown }
  return {
    ...(drawable(figure) as object),
    ...(Array.isArray(frames) && { frames: frames.map(drawable) }),
  } as T
}

/** Converts a figure or a frame, which may lack data or layout. */
function drawable(figure: unknown): unknown {
  if (!isObject(figure)) return figure
  const { data, layout } = figure
  return {
    ...figure,
    ...(Array.isArray(data) && { data: data.map(traceOf) }),
    ...(isObject(layout) && { layout: layoutOf(layout) }),
  }
}

/** Converts a trace. */
function traceOf(old: unknown): unknown {
  if (!isObject(old)) return old
  let trace = withTitles(old)
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

/** Attributes that swap axes with `bardir: 'h'`; it was written beside the attributes of vertical bars. */
const OF_X = /^(?:x(?:src|0|bins|calendar)?|dx|nbinsx|autobinx|error_x)$/

/** Converts `bardir: 'h'` to `orientation: 'h'`: swaps x and y. */
function withOrientation({ bardir, ...trace }: Attributes): Attributes {
  const { type } = trace
  if (bardir !== 'h' || (type !== 'bar' && !String(type).startsWith('histogram'))) return trace
  const converted: Attributes = { orientation: 'h' }
  for (const [key, value] of Object.entries(trace)) {
    const swapped = key.replace(/[xy](?=src$|0$|bins$|calendar$|$)/, (letter) => (letter === 'x' ? 'y' : 'x'))
    converted[OF_X.test(key) || OF_X.test(swapped) ? swapped : key] = value
  }
  return converted
}

/** Converts a layout and its template. */
function layoutOf(old: Attributes): Attributes {
  const layout = withTitles(old)
  for (const [key, value] of Object.entries(layout)) {
    if (/^[xy]axis\d*$/.test(key) && isObject(value)) layout[key] = axisOf(value)
    if (/^scene\d*$/.test(key) && isObject(value)) layout[key] = sceneOf(value)
    // Map subplots were renamed too.
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
      // Template traces are listed by type.
      next.data = {}
      for (const [type, traces] of Object.entries(template.data)) {
        const newType = Object.hasOwn(TYPES, type) ? TYPES[type][0] : type
        if (Array.isArray(traces) && type !== '__proto__')
          next.data[newType] ??= traces.map((trace) => templateOf(type, trace))
      }
    }
    layout.template = next
  }
  return layout
}

/** Converts a trace of a template, whose type is its key. */
function templateOf(type: string, trace: unknown): unknown {
  if (!isObject(trace)) return trace
  const { type: _, ...rest } = traceOf({ ...trace, type }) as Attributes
  return rest
}

/** Returns a copy in which all titles are objects, at any depth. Skips arrays of values. */
function withTitles(source: Attributes): Attributes {
  const copy: Attributes = {}
  for (const [key, value] of Object.entries(source)) {
    // An assignment would set the prototype of the copy.
    if (key === '__proto__') continue
    if (DATA_KEYS.has(key)) copy[key] = value
    else if ((key === 'args' || key === 'args2') && Array.isArray(value)) copy[key] = argumentsOf(value)
    else if (key === 'title' && isText(value)) copy.title = { ...copy.title, text: String(value) }
    else if (key === 'title' && isObject(value)) copy.title = { ...copy.title, ...withTitles(value) }
    else if (Object.hasOwn(IN_TITLE, key)) {
      const title = isText(copy.title) ? { text: String(copy.title) } : copy.title
      // Current attributes take precedence.
      copy.title = { [IN_TITLE[key]]: value, ...title }
    } else if (isObject(value)) copy[key] = withTitles(value)
    else if (Array.isArray(value) && value.some(isObject))
      copy[key] = value.map((item) => (isObject(item) ? withTitles(item) : item))
    else copy[key] = value
  }
  return copy
}

/**
 * Converts arguments of buttons and sliders: attributes by path, or one path and its value. A string title
 * changes only the text, as before.
 */
function argumentsOf(values: readonly unknown[]): unknown[] {
  const [path, value] = values
  if (typeof path === 'string') return [todaysPath(path, value), ...values.slice(1)]
  return values.map((item) =>
    isObject(item)
      ? Object.fromEntries(
          Object.entries(item).map(([key, inner]) => [
            todaysPath(key, inner),
            isObject(inner) ? withTitles(inner) : inner,
          ]),
        )
      : item,
  )
}

/** Returns the current path of an attribute: `xaxis.title` → `xaxis.title.text`. */
function todaysPath(path: string, value: unknown): string {
  if (/(^|\.)title$/.test(path) && (isText(value) || Array.isArray(value))) return `${path}.text`
  return path.replace(
    /(^|\.)(titlefont|titleside|titleposition|titleoffset)(?=\.|$)/,
    (_, before, name) => `${before}title.${IN_TITLE[name]}`,
  )
}

/** Converts `autotick` to `tickmode`. */
function axisOf({ autotick, ...axis }: Attributes): Attributes {
  if (typeof autotick !== 'boolean' || axis.tickmode !== undefined) return axis
  return { ...axis, tickmode: autotick ? 'auto' : axis.tickvals === undefined ? 'linear' : 'array' }
}

/** Converts the camera and the axes of a 3-D scene. */
function sceneOf(scene: Attributes): Attributes {
  const axes = Object.entries(scene).filter(([key, value]) => /^[xyz]axis$/.test(key) && isObject(value))
  const { cameraposition, ...rest } = scene
  const camera = cameraOf(cameraposition)
  return {
    ...(camera ? { ...rest, camera } : scene),
    ...Object.fromEntries(axes.map(([key, axis]) => [key, axisOf(axis)])),
  }
}

/** Converts `cameraposition`: a quaternion, a center and a distance. */
function cameraOf(position: unknown): Attributes | undefined {
  if (!Array.isArray(position)) return undefined
  const [rotation, center, radius] = position
  if (!isNumbers(rotation, 4) || !isNumbers(center, 3) || typeof radius !== 'number') return undefined
  const [x, y, z, w] = rotation
  // Direction of view.
  const depth = [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]
  const point = ([a, b, c]: readonly number[]): Attributes => ({ x: a, y: b, z: c })
  return {
    eye: point(center.map((coordinate, k) => coordinate + radius * depth[k])),
    center: point(center),
    up: { x: 0, y: 0, z: 1 },
  }
}

function isNumbers(value: unknown, count: number): value is number[] {
  return Array.isArray(value) && value.length === count && value.every((item) => typeof item === 'number')
}

/** Converts `ref` to `xref` and `yref`. */
function annotationOf(annotation: unknown): unknown {
  if (!isObject(annotation) || annotation.ref === undefined) return annotation
  const { ref, ...rest } = annotation
  const isPaper = ref === 'paper'
  return { xref: isPaper ? 'paper' : 'x', yref: isPaper ? 'paper' : 'y', ...rest }
}

/** Moves the opacity of error bars into their color. */
function errorBars({ opacity, ...bars }: Attributes): Attributes {
  const color = isText(bars.color) ? String(bars.color) : ''
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(color)
  const rgb = hex
    ? hex.slice(1).map((pair) => Number.parseInt(pair, 16))
    : /^rgb\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)$/.exec(color)?.slice(1)
  if (typeof opacity !== 'number' || !rgb) return bars
  return { ...bars, color: `rgba(${rgb.join(', ')}, ${opacity})` }
}

/** Converts a `pointcloud` trace to `scattergl`. */
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

/** Renames the subplot of a `mapbox` trace. */
function onMap(trace: Attributes): Attributes {
  const { subplot } = trace
  return typeof subplot === 'string' ? { ...trace, subplot: subplot.replace(/^mapbox/, 'map') } : trace
}

/** Returns whether a trace is a polar chart of plotly.js 1: points or bars with `t` and `r`. */
function isLegacyPolar({ type = 'scatter', r, t, x, y }: Attributes): boolean {
  return (type === 'scatter' || type === 'bar') && r !== undefined && t !== undefined && !x && !y
}

/** Renames the angle `t` to `theta`. */
function polar({ t, ...trace }: Attributes): Attributes {
  return t === undefined ? trace : { theta: t, ...trace }
}

function isObject(value: unknown): value is Attributes {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value)
}

function isText(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}
