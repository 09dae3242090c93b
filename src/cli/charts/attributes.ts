// Sets and checks attributes of figures, by the schema of plotly.js.
import { isDeepStrictEqual } from 'node:util'
import type { Attributes, Figure } from '../../charts/figure/figure.ts'
import { Problem } from '../../contract/errors.ts'
import { findClosest, formatList, withSuggestion } from '../../contract/message-texts.ts'

/** Attributes that accept any value. */
const UNCHECKED_ATTRIBUTES = new Set(['meta', 'customdata', 'transforms', 'template'])

/** Change of one attribute, such as `layout.xaxis.title.text=Year`. Without a value, it is removed. */
export interface AttributeEdit {
  path: string
  value?: unknown
}

/** Parses `PATH=VALUE`. The value is JSON, or else text. Throws `usage`. */
export function parseAttributeEdit(assignment: string): AttributeEdit {
  const at = assignment.indexOf('=')
  if (at <= 0)
    throw new Problem('usage', `${assignment}: expected PATH=VALUE`, {
      hint: 'For example: layout.xaxis.title.text=Year or data.0.line.width=3',
    })
  const text = assignment.slice(at + 1)
  try {
    return { path: assignment.slice(0, at), value: JSON.parse(text) }
  } catch {
    return { path: assignment.slice(0, at), value: text }
  }
}

/**
 * Returns a copy of a figure with changed attributes. Throws `usage` for paths or values that plotly.js does
 * not know, with a suggestion.
 */
export async function applyEdits(figure: Figure, changes: readonly AttributeEdit[]): Promise<Figure> {
  const { plotSchema } = await import('../../vendor/schema.ts')
  const next = structuredClone(figure)
  for (const { path, value } of changes) {
    const names = path.split('.')
    if (names.length < 2)
      throw new Problem('usage', `${path}: expected the path of an attribute, such as layout.title`)
    if (value === undefined && !hasAttribute(next, names)) throw new Problem('usage', `${path} is not set`)
    if (value !== undefined) assertValidValue(path, value, findAttributeSchema(names, next, plotSchema))
    setAttribute(next, names, value, path)
  }
  return next
}

type Schema = typeof import('../../vendor/schema.ts').plotSchema

/**
 * Returns the schema of the attribute at a path; undefined if it accepts anything. Throws `usage` for unknown
 * paths.
 */
export function findAttributeSchema(
  names: readonly string[],
  figure: Attributes,
  schema: Schema,
): AttributeSchema | undefined {
  const [root, ...rest] = names
  if (root === 'layout') {
    const traceLayouts = Object.values(schema.traces).map(({ layoutAttributes = {} }) => layoutAttributes)
    return walkSchema(rest, Object.assign({}, ...traceLayouts, schema.layout.layoutAttributes), names)
  }
  if (root !== 'data')
    throw new Problem('usage', `${names.join('.')}: expected a path that begins with data.0 or layout`, {
      hint: 'For example: layout.title.text or data.0.marker.color',
    })
  const [index, ...traceNames] = rest
  const trace = /^\d+$/.test(index ?? '') ? figure.data?.[Number(index)] : undefined
  if (typeof trace !== 'object' || trace === null) {
    const count = figure.data?.length ?? 0
    throw new Problem(
      'usage',
      `${names.join('.')}: the figure has ${count} traces, data.0 to data.${count - 1}`,
    )
  }
  const type = String(trace.type ?? 'scatter')
  return walkSchema(traceNames, schema.traces[type]?.attributes ?? {}, names)
}

/** Follows a path through the schema. */
function walkSchema(
  names: readonly string[],
  attributes: object,
  path: readonly string[],
): AttributeSchema | undefined {
  let node: Attributes = attributes
  for (const [k, name] of names.entries()) {
    const parentPath = path.slice(0, path.length - names.length + k).join('.')
    if (UNCHECKED_ATTRIBUTES.has(name)) return undefined
    // `xaxis2` has the attributes of `xaxis`; `xsrc` refers to the data of `x`.
    const member = (memberName: string): Attributes | undefined =>
      Object.hasOwn(node, memberName) ? node[memberName] : undefined
    const child =
      member(name) ??
      member(name.replace(/\d+$/, '')) ??
      (name.endsWith('src') ? member(name.slice(0, -3)) : undefined)
    if (child === undefined) {
      const attributeNames = Object.keys(node).filter(
        (key) => typeof node[key] === 'object' && !key.startsWith('_'),
      )
      throw new Problem('usage', `${parentPath} has no attribute ${name}`, {
        hint: withSuggestion(
          findClosest(name, attributeNames),
          `Its attributes are: ${formatList(attributeNames)}`,
        ),
      })
    }
    if (child.valType !== undefined) {
      if (k < names.length - 1 && child.valType !== 'any' && child.valType !== 'data_array')
        throw new Problem('usage', `${path.join('.')}: ${parentPath}.${name} has no attributes`)
      return k === names.length - 1 && name in node ? (child as AttributeSchema) : undefined
    }
    node = child
    // A list: all items have the same attributes.
    if (node.items !== undefined && /^\d+$/.test(names[k + 1] ?? '')) {
      const [item] = Object.values<object>(node.items)
      return walkSchema(names.slice(k + 2), item, path)
    }
  }
  return undefined
}

/** Schema of one attribute. */
interface AttributeSchema {
  valType: string
  values?: readonly unknown[]
  /** For flag lists: flags that can be joined, and values that stand alone. */
  flags?: readonly string[]
  extras?: readonly unknown[]
  arrayOk?: boolean
  min?: number
  max?: number
}

const COLOR_PATTERN = /^(?:#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})|(?:rgb|hsl|hsv)a?\([^()]*\))$/i
/** Named colors of CSS: https://www.w3.org/TR/css-color-4/#named-colors. */
const NAMED_COLORS = new Set(
  'aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgray darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray dimgrey dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green greenyellow grey honeydew hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon lightseagreen lightskyblue lightslategray lightslategrey lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine mediumblue mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen mediumturquoise mediumvioletred midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive olivedrab orange orangered orchid palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue slateblue slategray slategrey snow springgreen steelblue tan teal thistle tomato transparent turquoise violet wheat white whitesmoke yellow yellowgreen'.split(
    ' ',
  ),
)

export const COLOR_HINT = 'Write colors as #d62728, rgb(214,39,40) or steelblue.'

/** Returns whether a value is a CSS color, which plotly.js accepts. */
export function isColor(value: unknown): boolean {
  return typeof value === 'string' && (COLOR_PATTERN.test(value) || NAMED_COLORS.has(value.toLowerCase()))
}

/** Throws `usage` for a value that plotly.js would ignore. */
export function assertValidValue(path: string, value: unknown, kind: AttributeSchema | undefined): void {
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
              ? !isFlagList(value, flags, extras) && formatFlags(flags, extras)
              : valType === 'enumerated' &&
                  values &&
                  !values.some((pattern) => String(pattern).startsWith('/'))
                ? !values.includes(value) && `one of: ${values.join(', ')}`
                : false
  if (expected) throw new Problem('usage', `${path}: ${JSON.stringify(value)} is not ${expected}`)
}

/** Returns whether a value consists of flags joined by +, or is one of the values that stand alone. */
function isFlagList(value: unknown, flags: readonly string[], extras: readonly unknown[]): boolean {
  return (
    extras.includes(value) ||
    (typeof value === 'string' && value.split('+').every((flag) => flags.includes(flag)))
  )
}

/** Formats the accepted flags for a message. */
function formatFlags(flags: readonly string[], extras: readonly unknown[]): string {
  const joined = flags.length > 1 ? ` (join several with +, as in ${flags.slice(0, 2).join('+')})` : ''
  return `one of: ${[...extras, ...flags].join(', ')}${joined}`
}

/** Returns whether an attribute is set. */
function hasAttribute(figure: Attributes, names: readonly string[]): boolean {
  // biome-ignore lint/suspicious/noExplicitAny: a list or an object
  let node: any = figure
  for (const name of names) {
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, name)) return false
    node = node[name]
  }
  return true
}

/** Sets or deletes an attribute. Creates missing objects and lists on the path. */
function setAttribute(figure: Attributes, names: readonly string[], value: unknown, path: string): void {
  // biome-ignore lint/suspicious/noExplicitAny: a list or an object
  let node: any = figure
  for (const [k, name] of names.slice(0, -1).entries()) {
    if (Object.hasOwn(Object.prototype, name))
      throw new Problem('usage', `${path}: ${name} is not an attribute`)
    if (Array.isArray(node) && Number(name) > node.length)
      throw new Problem('usage', `${path}: item ${name} does not exist`)
    if (typeof node[name] !== 'object' || node[name] === null) {
      if (value === undefined) return
      // In earlier versions of plotly.js, a title was a text.
      node[name] =
        name === 'title' && typeof node[name] === 'string'
          ? { text: node[name] }
          : /^\d+$/.test(names[k + 1])
            ? []
            : {}
    }
    node = node[name]
  }
  const last = names[names.length - 1]
  if (Object.hasOwn(Object.prototype, last))
    throw new Problem('usage', `${path}: ${last} is not an attribute`)
  if (value !== undefined) node[last] = value
  else if (Array.isArray(node)) node.splice(Number(last), 1)
  else delete node[last]
}

/** Attribute whose value differs between two figures. */
export interface Difference {
  path: string
  before: unknown
  after: unknown
}

/** Lists the attributes in which two figures differ. Lists of values are compared as a whole. */
export function listDifferences(before: unknown, after: unknown, path = ''): Difference[] {
  if (isDeepStrictEqual(before, after)) return []
  const [a, b] = [objectMembers(before), objectMembers(after)]
  if (!a || !b) return [{ path, before, after }]
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
    listDifferences(a[key], b[key], path === '' ? key : `${path}.${key}`),
  )
}

/** Returns the members of an object or of a list of objects; undefined for values. */
function objectMembers(value: unknown): Attributes | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (!Array.isArray(value)) return value
  return value.every((item) => typeof item === 'object' && item !== null && !Array.isArray(item))
    ? { ...value }
    : undefined
}

/** Throws `usage` for changed attributes that plotly.js does not know, or values that it would ignore. */
export async function assertValidChanges(changes: readonly Difference[], figure: Attributes): Promise<void> {
  const { plotSchema } = await import('../../vendor/schema.ts')
  for (const { path, after } of changes) {
    if (after === undefined) continue
    for (const [inner, value] of listAttributes(after, path.split('.'))) {
      // Skip whole traces, and members other than data and layout.
      if ((inner[0] !== 'data' && inner[0] !== 'layout') || inner.length < (inner[0] === 'data' ? 3 : 2))
        continue
      assertValidValue(inner.join('.'), value, findAttributeSchema(inner, figure, plotSchema))
    }
  }
}

/** Yields paths and values of all attributes. Lists are values, unless they contain objects. */
export function* listAttributes(value: unknown, path: readonly string[]): Generator<[string[], unknown]> {
  const members = objectMembers(value)
  if (!members || Object.keys(members).length === 0) yield [[...path], value]
  else for (const [key, member] of Object.entries(members)) yield* listAttributes(member, [...path, key])
}
