import { isDeepStrictEqual } from 'node:util'
import { closest, hintWith, listed } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'

// biome-ignore lint/suspicious/noExplicitAny: a figure can have any attribute
type Attributes = Record<string, any>

/** Attributes that hold anything. */
const FREE = new Set(['meta', 'customdata', 'transforms', 'template'])

/** A change of one attribute: `layout.xaxis.title.text=Year`. Without a value, it is removed. */
export interface Change {
  path: string
  value?: unknown
}

/** Reads `PATH=VALUE`. A value that is JSON is that; any other is a text. Throws `usage`. */
export function readChange(given: string): Change {
  const at = given.indexOf('=')
  if (at <= 0)
    throw new Problem('usage', `${given}: expected PATH=VALUE`, {
      hint: 'For example: layout.xaxis.title.text=Year or data.0.line.width=3',
    })
  const text = given.slice(at + 1)
  try {
    return { path: given.slice(0, at), value: JSON.parse(text) }
  } catch {
    return { path: given.slice(0, at), value: text }
  }
}

/**
 * A figure with changed attributes. The paths are those of plotly.js; an unknown one is refused, with the name that was
 * meant. The figure that is given stays as it is. Throws `usage`.
 */
export async function changed(figure: Attributes, changes: readonly Change[]): Promise<Attributes> {
  const { plotSchema } = await import('../../vendor/schema.ts')
  const next: Attributes = structuredClone(figure)
  for (const { path, value } of changes) {
    const names = path.split('.')
    if (names.length < 2)
      throw new Problem('usage', `${path}: a path names one attribute, such as layout.title`)
    if (value === undefined && !isSet(next, names)) throw new Problem('usage', `${path} is not set`)
    if (value !== undefined) assertFits(path, value, attributeOf(names, next, plotSchema))
    setAt(next, names, value, path)
  }
  return next
}

type Schema = typeof import('../../vendor/schema.ts').plotSchema

/** What plotly.js says of the values at a path; undefined where anything goes. Throws `usage` for an unknown path. */
export function attributeOf(names: readonly string[], figure: Attributes, schema: Schema): Kind | undefined {
  const [root, ...rest] = names
  if (root === 'layout') {
    const own = Object.values(schema.traces).map(({ layoutAttributes = {} }) => layoutAttributes)
    return walk(rest, Object.assign({}, ...own, schema.layout.layoutAttributes), names)
  }
  if (root !== 'data')
    throw new Problem('usage', `${names.join('.')}: a path begins with data.0 or layout`, {
      hint: 'For example: layout.title.text or data.0.marker.color',
    })
  const [index, ...inTrace] = rest
  const trace: unknown = /^\d+$/.test(index ?? '') ? figure.data?.[Number(index)] : undefined
  if (typeof trace !== 'object' || trace === null) {
    const count = figure.data?.length ?? 0
    throw new Problem(
      'usage',
      `${names.join('.')}: the figure has ${count} traces, data.0 to data.${count - 1}`,
    )
  }
  const type = String((trace as Attributes).type ?? 'scatter')
  return walk(inTrace, schema.traces[type]?.attributes ?? {}, names)
}

function walk(names: readonly string[], known: object, path: readonly string[]): Kind | undefined {
  let at: Attributes = known
  for (const [k, name] of names.entries()) {
    const here = path.slice(0, path.length - names.length + k).join('.')
    if (FREE.has(name)) return undefined
    // `xaxis2` is like `xaxis`, and `xsrc` refers to the data of `x`.
    const own = (one: string): Attributes | undefined => (Object.hasOwn(at, one) ? at[one] : undefined)
    const found =
      own(name) ??
      own(name.replace(/\d+$/, '')) ??
      (name.endsWith('src') ? own(name.slice(0, -3)) : undefined)
    if (found === undefined) {
      const all = Object.keys(at).filter((one) => typeof at[one] === 'object' && !one.startsWith('_'))
      throw new Problem('usage', `${here} has no attribute ${name}`, {
        hint: hintWith(closest(name, all), `It has: ${listed(all)}`),
      })
    }
    if (found.valType !== undefined) {
      if (k < names.length - 1 && found.valType !== 'any' && found.valType !== 'data_array')
        throw new Problem('usage', `${path.join('.')}: ${here}.${name} has no attributes`)
      return k === names.length - 1 && name in at ? (found as Kind) : undefined
    }
    at = found
    // A list: its items are alike.
    if (at.items !== undefined && /^\d+$/.test(names[k + 1] ?? '')) {
      const [item] = Object.values(at.items as Attributes)
      return walk(names.slice(k + 2), item as object, path)
    }
  }
  return undefined
}

/** A leaf of the schema. */
interface Kind {
  valType: string
  values?: readonly unknown[]
  /** Of a list of flags: those that can be joined, and what stands alone. */
  flags?: readonly string[]
  extras?: readonly unknown[]
  arrayOk?: boolean
  min?: number
  max?: number
}

const COLOR = /^(?:#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})|(?:rgb|hsl|hsv)a?\([^()]*\))$/i
/** The named colors of CSS: https://www.w3.org/TR/css-color-4/#named-colors. */
const NAMED = new Set(
  'aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgray darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray dimgrey dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green greenyellow grey honeydew hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon lightseagreen lightskyblue lightslategray lightslategrey lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine mediumblue mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen mediumturquoise mediumvioletred midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive olivedrab orange orangered orchid palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue slateblue slategray slategrey snow springgreen steelblue tan teal thistle tomato transparent turquoise violet wheat white whitesmoke yellow yellowgreen'.split(
    ' ',
  ),
)

/** Whether CSS, and so plotly.js, knows a color. */
export function isColor(value: unknown): boolean {
  return typeof value === 'string' && (COLOR.test(value) || NAMED.has(value.toLowerCase()))
}

/** Throws `usage` for a value that plotly.js would ignore. */
export function assertFits(path: string, value: unknown, kind: Kind | undefined): void {
  if (!kind) return
  const { valType, values, flags = [], extras = [], arrayOk, min, max } = kind
  if (Array.isArray(value) && arrayOk) return
  const expected =
    valType === 'number' || valType === 'integer'
      ? typeof value !== 'number'
        ? 'a number'
        : ((min !== undefined && value < min) || (max !== undefined && value > max)) &&
          `from ${min ?? '−∞'} to ${max ?? '∞'}`
      : valType === 'boolean'
        ? typeof value !== 'boolean' && 'true or false'
        : valType === 'color'
          ? !isColor(value) && 'a color, such as #d62728 or steelblue'
          : valType === 'info_array' || valType === 'data_array'
            ? !Array.isArray(value) && 'a list, such as [0,100]'
            : valType === 'flaglist'
              ? !areFlags(value, flags, extras) && flagsText(flags, extras)
              : valType === 'enumerated' && values && !values.some((one) => String(one).startsWith('/'))
                ? !values.includes(value) && `one of: ${values.join(', ')}`
                : false
  if (expected) throw new Problem('usage', `${path}: ${JSON.stringify(value)} is not ${expected}`)
}

/** Whether a value is some of the flags, joined by +, or one of the values that stand alone. */
function areFlags(value: unknown, flags: readonly string[], extras: readonly unknown[]): boolean {
  return (
    extras.includes(value) ||
    (typeof value === 'string' && value.split('+').every((one) => flags.includes(one)))
  )
}

function flagsText(flags: readonly string[], extras: readonly unknown[]): string {
  const joined = flags.length > 1 ? ` (several are joined by +, as in ${flags.slice(0, 2).join('+')})` : ''
  return `one of: ${[...extras, ...flags].join(', ')}${joined}`
}

function isSet(figure: Attributes, names: readonly string[]): boolean {
  // biome-ignore lint/suspicious/noExplicitAny: a list or an object
  let at: any = figure
  for (const name of names) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return false
    at = at[name]
  }
  return true
}

function setAt(figure: Attributes, names: readonly string[], value: unknown, path: string): void {
  // biome-ignore lint/suspicious/noExplicitAny: a list or an object
  let at: any = figure
  for (const [k, name] of names.slice(0, -1).entries()) {
    if (Object.hasOwn(Object.prototype, name)) throw new Problem('usage', `${path}: ${name} is no attribute`)
    if (Array.isArray(at) && Number(name) > at.length)
      throw new Problem('usage', `${path}: there is no item ${name}`)
    if (typeof at[name] !== 'object' || at[name] === null) {
      if (value === undefined) return
      // A title was a text in earlier versions.
      at[name] =
        name === 'title' && typeof at[name] === 'string'
          ? { text: at[name] }
          : /^\d+$/.test(names[k + 1])
            ? []
            : {}
    }
    at = at[name]
  }
  const last = names[names.length - 1]
  if (Object.hasOwn(Object.prototype, last)) throw new Problem('usage', `${path}: ${last} is no attribute`)
  if (value !== undefined) at[last] = value
  else if (Array.isArray(at)) at.splice(Number(last), 1)
  else delete at[last]
}

/** An attribute that two figures have with other values. */
export interface Difference {
  path: string
  before: unknown
  after: unknown
}

/** The attributes in which two figures differ. Lists of values differ as a whole. */
export function differencesOf(before: unknown, after: unknown, path = ''): Difference[] {
  if (isDeepStrictEqual(before, after)) return []
  const [a, b] = [membersOf(before), membersOf(after)]
  if (!a || !b) return [{ path, before, after }]
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
    differencesOf(a[key], b[key], path === '' ? key : `${path}.${key}`),
  )
}

/** The members of an object, or of a list of objects; undefined for values. */
function membersOf(value: unknown): Attributes | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (!Array.isArray(value)) return value
  return value.every((one) => typeof one === 'object' && one !== null && !Array.isArray(one))
    ? { ...value }
    : undefined
}

/** Throws `usage` for attributes that plotly.js does not know, or for values that it would ignore. */
export async function assertKnown(changes: readonly Difference[], figure: Attributes): Promise<void> {
  const { plotSchema } = await import('../../vendor/schema.ts')
  for (const { path, after } of changes) {
    if (after === undefined) continue
    for (const [inner, value] of leavesIn(after, path.split('.'))) {
      // Whole traces, and what is beside them.
      if ((inner[0] !== 'data' && inner[0] !== 'layout') || inner.length < (inner[0] === 'data' ? 3 : 2))
        continue
      assertFits(inner.join('.'), value, attributeOf(inner, figure, plotSchema))
    }
  }
}

/** Paths and values of the attributes in an object. Lists are values, unless they hold objects. */
export function* leavesIn(value: unknown, path: readonly string[]): Generator<[string[], unknown]> {
  const members = membersOf(value)
  if (!members || Object.keys(members).length === 0) yield [[...path], value]
  else for (const [key, one] of Object.entries(members)) yield* leavesIn(one, [...path, key])
}
