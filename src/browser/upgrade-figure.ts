// Converts figures of plotly.js 1 to 3 when they are drawn.
// The tables list the removals in its changelog for versions 2.0, 3.0 and 4.0. Stored figures are unchanged.

// biome-ignore lint/suspicious/noExplicitAny: a figure can have any attribute
type Attributes = Record<string, any>

/** Attributes that moved into `title`, at any depth. */
const TITLE_MEMBERS: Readonly<Record<string, string>> = {
  titlefont: 'font',
  titleside: 'side',
  titleposition: 'position',
  titleoffset: 'offset',
}

/** Trace types that were replaced, with the conversion of their attributes. */
const REPLACED_TYPES: Readonly<Record<string, [type: string, change?: (trace: Attributes) => Attributes]>> = {
  heatmapgl: ['heatmap'],
  contourgl: ['contour'],
  pointcloud: ['scattergl', convertPointcloud],
  scattermapbox: ['scattermap', convertMapbox],
  choroplethmapbox: ['choroplethmap', convertMapbox],
  densitymapbox: ['densitymap', convertMapbox],
  area: ['barpolar', convertAngle],
}

/** Renamed trace attributes, by trace type; `*` for all types. */
const RENAMED_ATTRIBUTES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '*': { scl: 'colorscale', reversescl: 'reversescale' },
  surface: { zauto: 'cauto', zmin: 'cmin', zmax: 'cmax' },
}

/** Members that hold data: a title in them is not converted. */
const DATA_KEYS = new Set(['meta', 'customdata', 'geojson', 'source', 'ids'])

/** Returns a figure with the current attributes; anything else unchanged. */
export function upgradeFigure<T extends { data: unknown; layout: unknown }>(figure: T): T {
  const { frames } = figure as { frames?: unknown }
  return {
    ...(upgradeParts(figure) as object),
    ...(Array.isArray(frames) && { frames: frames.map(upgradeParts) }),
  } as T
}

/** Converts a figure or a frame, which may lack data or layout. */
function upgradeParts(figure: unknown): unknown {
  if (!isObject(figure)) return figure
  const { data, layout } = figure
  const traces = Array.isArray(data) ? data : []
  const isPolar = traces.some((trace) => isObject(trace) && (trace.type === 'area' || isLegacyPolar(trace)))
  return {
    ...figure,
    ...(Array.isArray(data) && { data: data.map(upgradeTrace) }),
    ...(isObject(layout) && { layout: upgradeLayout(isPolar ? convertPolarLayout(layout) : layout) }),
  }
}

/** Converts a trace. */
function upgradeTrace(old: unknown): unknown {
  if (!isObject(old)) return old
  let trace = convertTitles(old)
  if (isLegacyPolar(trace))
    trace = convertAngle({ ...trace, type: trace.type === 'bar' ? 'barpolar' : 'scatterpolar' })
  const [type, change] =
    isText(trace.type) && Object.hasOwn(REPLACED_TYPES, trace.type)
      ? REPLACED_TYPES[trace.type]
      : [trace.type]
  if (type !== trace.type) trace = { ...(change?.(trace) ?? trace), type }
  if (trace.bardir !== undefined) trace = convertBardir(trace)
  const names = {
    ...RENAMED_ATTRIBUTES['*'],
    ...(isText(type) && Object.hasOwn(RENAMED_ATTRIBUTES, type) ? RENAMED_ATTRIBUTES[type] : {}),
  }
  for (const [before, after] of Object.entries(names)) {
    if (trace[before] === undefined) continue
    const { [before]: value, ...rest } = trace
    trace = { [after]: value, ...rest }
  }
  for (const key of ['error_x', 'error_y', 'error_z'])
    if (isObject(trace[key])) trace[key] = convertErrorBars(trace[key])
  return trace
}

/** Attributes that swap axes with `bardir: 'h'`; it was written beside the attributes of vertical bars. */
const X_ATTRIBUTES = /^(?:x(?:src|0|bins|calendar)?|dx|nbinsx|autobinx|error_x)$/

/** Converts `bardir: 'h'` to `orientation: 'h'`: swaps x and y. */
function convertBardir({ bardir, ...trace }: Attributes): Attributes {
  const { type } = trace
  if (bardir !== 'h' || (type !== 'bar' && !String(type).startsWith('histogram'))) return trace
  const converted: Attributes = { orientation: 'h' }
  for (const [key, value] of Object.entries(trace)) {
    const swapped = key.replace(/[xy](?=src$|0$|bins$|calendar$|$)/, (letter) => (letter === 'x' ? 'y' : 'x'))
    converted[X_ATTRIBUTES.test(key) || X_ATTRIBUTES.test(swapped) ? swapped : key] = value
  }
  return converted
}

/** Converts a layout and its template. */
function upgradeLayout(old: Attributes): Attributes {
  const layout = convertTitles(old)
  for (const [key, value] of Object.entries(layout)) {
    if (/^[xy]axis\d*$/.test(key) && isObject(value)) layout[key] = convertAxis(value)
    if (/^scene\d*$/.test(key) && isObject(value)) layout[key] = convertScene(value)
    // Map subplots were renamed too.
    const [, number] = /^mapbox(\d*)$/.exec(key) ?? []
    if (number !== undefined) {
      layout[`map${number}`] ??= value
      delete layout[key]
    }
  }
  if (Array.isArray(layout.annotations)) layout.annotations = layout.annotations.map(convertAnnotation)
  const { template } = layout
  if (isObject(template)) {
    const next = { ...template }
    if (isObject(template.layout)) next.layout = upgradeLayout(template.layout)
    if (isObject(template.data)) {
      // Template traces are listed by type.
      next.data = {}
      for (const [type, traces] of Object.entries(template.data)) {
        const newType = Object.hasOwn(REPLACED_TYPES, type) ? REPLACED_TYPES[type][0] : type
        if (Array.isArray(traces) && type !== '__proto__')
          next.data[newType] ??= traces.map((trace) => upgradeTemplateTrace(type, trace))
      }
    }
    layout.template = next
  }
  return layout
}

/** Converts a trace of a template, whose type is its key. */
function upgradeTemplateTrace(type: string, trace: unknown): unknown {
  if (!isObject(trace)) return trace
  const { type: _, ...rest } = upgradeTrace({ ...trace, type }) as Attributes
  return rest
}

/** Returns a copy in which all titles are objects, at any depth. Skips arrays of values. */
function convertTitles(source: Attributes): Attributes {
  const copy: Attributes = {}
  for (const [key, value] of Object.entries(source)) {
    // An assignment would set the prototype of the copy.
    if (key === '__proto__') continue
    if (DATA_KEYS.has(key)) copy[key] = value
    else if ((key === 'args' || key === 'args2') && Array.isArray(value)) copy[key] = convertArguments(value)
    else if (key === 'title' && isText(value)) copy.title = { ...copy.title, text: String(value) }
    else if (key === 'title' && isObject(value)) copy.title = { ...copy.title, ...convertTitles(value) }
    else if (Object.hasOwn(TITLE_MEMBERS, key)) {
      const title = isText(copy.title) ? { text: String(copy.title) } : copy.title
      // Current attributes take precedence.
      copy.title = { [TITLE_MEMBERS[key]]: value, ...title }
    } else if (isObject(value)) copy[key] = convertTitles(value)
    else if (Array.isArray(value) && value.some(isObject))
      copy[key] = value.map((item) => (isObject(item) ? convertTitles(item) : item))
    else copy[key] = value
  }
  return copy
}

/**
 * Converts arguments of buttons and sliders: attributes by path, or one path and its value. A string title
 * changes only the text, as before.
 */
function convertArguments(values: readonly unknown[]): unknown[] {
  const [path, value] = values
  if (typeof path === 'string') return [currentPathOf(path, value), ...values.slice(1)]
  return values.map((item) =>
    isObject(item)
      ? Object.fromEntries(
          Object.entries(item).map(([key, inner]) => [
            currentPathOf(key, inner),
            isObject(inner) ? convertTitles(inner) : inner,
          ]),
        )
      : item,
  )
}

/** Returns the current path of an attribute: `xaxis.title` → `xaxis.title.text`. */
function currentPathOf(path: string, value: unknown): string {
  if (/(^|\.)title$/.test(path) && (isText(value) || Array.isArray(value))) return `${path}.text`
  return path.replace(
    /(^|\.)(titlefont|titleside|titleposition|titleoffset)(?=\.|$)/,
    (_, before, name) => `${before}title.${TITLE_MEMBERS[name]}`,
  )
}

/** Converts `autotick` to `tickmode`. */
function convertAxis({ autotick, ...axis }: Attributes): Attributes {
  if (typeof autotick !== 'boolean' || axis.tickmode !== undefined) return axis
  return { ...axis, tickmode: autotick ? 'auto' : axis.tickvals === undefined ? 'linear' : 'array' }
}

/** Converts the camera and the axes of a 3-D scene. */
function convertScene(scene: Attributes): Attributes {
  const axes = Object.entries(scene).filter(([key, value]) => /^[xyz]axis$/.test(key) && isObject(value))
  const { cameraposition, ...rest } = scene
  const camera = convertCamera(cameraposition)
  return {
    ...(camera ? { ...rest, camera } : scene),
    ...Object.fromEntries(axes.map(([key, axis]) => [key, convertAxis(axis)])),
  }
}

/** Converts `cameraposition`: a quaternion, a center and a distance. */
function convertCamera(position: unknown): Attributes | undefined {
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
function convertAnnotation(annotation: unknown): unknown {
  if (!isObject(annotation) || annotation.ref === undefined) return annotation
  const { ref, ...rest } = annotation
  const isPaper = ref === 'paper'
  return { xref: isPaper ? 'paper' : 'x', yref: isPaper ? 'paper' : 'y', ...rest }
}

/** Moves the opacity of error bars into their color. */
function convertErrorBars({ opacity, ...bars }: Attributes): Attributes {
  const color = isText(bars.color) ? String(bars.color) : ''
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(color)
  const rgb = hex
    ? hex.slice(1).map((pair) => Number.parseInt(pair, 16))
    : /^rgb\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)$/.exec(color)?.slice(1)
  if (typeof opacity !== 'number' || !rgb) return bars
  return { ...bars, color: `rgba(${rgb.join(', ')}, ${opacity})` }
}

/** Converts a `pointcloud` trace to `scattergl`. */
function convertPointcloud({ xy, marker, ...trace }: Attributes): Attributes {
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
function convertMapbox(trace: Attributes): Attributes {
  const { subplot } = trace
  return typeof subplot === 'string' ? { ...trace, subplot: subplot.replace(/^mapbox/, 'map') } : trace
}

/** Returns whether a trace is a polar chart of plotly.js 1: points or bars with `t` and `r`. */
function isLegacyPolar({ type = 'scatter', r, t, x, y }: Attributes): boolean {
  return (type === 'scatter' || type === 'bar') && r !== undefined && t !== undefined && !x && !y
}

/** Attributes of the axes of polar charts of plotly.js 1 that have the same name and meaning today. */
const POLAR_AXIS_ATTRIBUTES = ['visible', 'showline', 'showticklabels', 'ticklen', 'tickcolor', 'ticksuffix']

/**
 * Converts the layout of polar charts of plotly.js 1: angles were clockwise from the right, and `orientation` turned all
 * of the chart clockwise.
 */
function convertPolarLayout(old: Attributes): Attributes {
  const { direction, orientation, radialaxis, angularaxis, polar, ...layout } = old
  const select = (axis: unknown, names: readonly string[]): Attributes =>
    isObject(axis)
      ? Object.fromEntries(names.flatMap((name) => (axis[name] === undefined ? [] : [[name, axis[name]]])))
      : {}
  const given = isObject(polar) ? polar : {}
  return {
    ...layout,
    polar: {
      // Sectors lay over each other, without gaps.
      barmode: layout.barmode === 'stack' ? 'stack' : 'overlay',
      bargap: 0,
      ...given,
      angularaxis: {
        direction: direction === 'counterclockwise' ? direction : 'clockwise',
        rotation: typeof orientation === 'number' ? -orientation : 0,
        ...select(angularaxis, POLAR_AXIS_ATTRIBUTES),
        ...given.angularaxis,
      },
      radialaxis: { ...select(radialaxis, ['range', ...POLAR_AXIS_ATTRIBUTES]), ...given.radialaxis },
    },
  }
}

/** Renames the angle `t` to `theta`. */
function convertAngle({ t, ...trace }: Attributes): Attributes {
  return t === undefined ? trace : { theta: t, ...trace }
}

function isObject(value: unknown): value is Attributes {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value)
}

function isText(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}
