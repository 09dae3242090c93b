/** Reads the content of boards: rows of items, or the layout of an older dashboard. */
import { invalidField, Problem } from '../../contract/errors.ts'
import { formatFid, parseFid } from '../../contract/fid.ts'
import { findClosest, formatList, withSuggestion } from '../../contract/message-texts.ts'
import { type Board, BoardFilter, BoardItem, BoardRow } from '../../contract/resources/index.ts'
import { AGGREGATE_FUNCTIONS, PERIODS } from '../../contract/row-options.ts'
import type { ObjectSchema } from '../../contract/schema.ts'

/** Maximum size of the content, in bytes. */
const MAX_CONTENT_BYTES = 1024 * 1024
/** Maximum length of a text, and of all texts of a board, in characters. */
const MAX_TEXT_CHARACTERS = 20_000
const MAX_TEXTS_CHARACTERS = 100_000
/** Maximum number of items of a board. */
const MAX_ITEMS = 200
/** Maximum depth of a layout. */
const MAX_DEPTH = 50
/** Default height of charts, in pixels. */
const CHART_HEIGHT_PX = 400

/** Parts of a board, beside or below each other, or one item. `share`: part of the width, from 0 to 1. */
export type BoardNode =
  | { kind: 'rows'; children: BoardNode[] }
  | { kind: 'columns'; children: { share: number; node: BoardNode }[] }
  | { kind: 'item'; item: BoardItem; height: number }

/** Content of a board, as it is stored and as clients get it. */
export interface StoredBoard {
  layout: unknown
  version: number
  settings: Record<string, unknown>
}

/** Returns the content of a request as text to store. Throws `invalid_request` with the part at fault. */
export function encodeBoard(content: string | Record<string, unknown>): string {
  try {
    return encode(content)
  } catch (error) {
    // Nested beyond the stack.
    if (error instanceof RangeError) throw invalidField('content', 'is nested too deeply')
    throw error
  }
}

function encode(content: string | Record<string, unknown>): string {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_CONTENT_BYTES)
    throw new Problem('too_large', `content: ${bytes} bytes; the limit is ${MAX_CONTENT_BYTES}`, {
      field: 'content',
    })
  const board = parseObject(text)
  if (!board) throw invalidField('content', 'must be an object, or an object encoded as a JSON string')
  if (!isObject(board.settings ?? {})) throw invalidField('content.settings', 'must be an object')
  const stored = {
    ...board,
    version: board.version ?? 2,
    settings: board.settings ?? {},
    layout: board.layout ?? null,
  }
  if (isObject(stored.settings) && stored.settings.board !== undefined) {
    const { board: rows } = stored.settings
    checkRows(rows)
    // Clients that know layouts only find the charts.
    stored.layout = toLayout(rows)
  }
  checkTexts(toNode(stored as StoredBoard))
  return JSON.stringify(stored)
}

/** Checks the sizes of the texts of a board, which are parsed for each reader. */
function checkTexts(node: BoardNode): void {
  const lengths = listItems(node).map(({ text = '' }) => text.length)
  if (lengths.some((length) => length > MAX_TEXT_CHARACTERS))
    throw invalidField('text', `must have at most ${MAX_TEXT_CHARACTERS} characters`)
  if (lengths.reduce((sum, length) => sum + length, 0) > MAX_TEXTS_CHARACTERS)
    throw invalidField('text', `all texts of a board must have at most ${MAX_TEXTS_CHARACTERS} characters`)
}

/** Lists the items of a board, in order. */
export function listItems(node: BoardNode): BoardItem[] {
  switch (node.kind) {
    case 'item':
      return [node.item]
    case 'rows':
      return node.children.flatMap(listItems)
    case 'columns':
      return node.children.flatMap((child) => listItems(child.node))
  }
}

/** Parses stored content. */
export function parseBoard(text: string): StoredBoard {
  return JSON.parse(text)
}

/** Returns the parts of a board. Throws `invalid_request` for a layout that has no meaning. */
export function toNode({ layout, settings }: StoredBoard): BoardNode {
  const board = settings.board as Board | undefined
  if (board)
    return {
      kind: 'rows',
      children: board.rows.map(({ items, height = CHART_HEIGHT_PX }) => {
        const total = items.reduce((sum, { width = 1 }) => sum + width, 0)
        const children = items.map((item) => ({
          share: (item.width ?? 1) / total,
          node: { kind: 'item', item, height } as const,
        }))
        return { kind: 'columns', children }
      }),
    }
  const counter = { items: 0 }
  return layout === null ? { kind: 'rows', children: [] } : layoutToNode(layout, 'content.layout', 0, counter)
}

function layoutToNode(part: unknown, path: string, depth: number, counter: { items: number }): BoardNode {
  if (!isObject(part)) throw invalidField(path, 'must be a box or a split')
  if (depth > MAX_DEPTH) throw invalidField(path, `is nested more than ${MAX_DEPTH} deep`)
  if (++counter.items > 2 * MAX_ITEMS)
    throw invalidField('content.layout', `has more than ${MAX_ITEMS} boxes`)
  if (part.type === 'split') {
    const [first, second] = ['first', 'second'].map((name) =>
      layoutToNode(part[name] ?? { type: 'box', boxType: 'empty' }, `${path}.${name}`, depth + 1, counter),
    )
    if (part.direction !== 'horizontal') return { kind: 'rows', children: [first, second] }
    const size = typeof part.size === 'number' && part.sizeUnit !== 'px' ? part.size / 100 : 0.5
    const share = Math.min(0.9, Math.max(0.1, size))
    return {
      kind: 'columns',
      children: [
        { share, node: first },
        { share: 1 - share, node: second },
      ],
    }
  }
  if (part.type !== 'box') throw invalidField(`${path}.type`, 'must be box or split')
  const text = (name: string): string | undefined =>
    typeof part[name] === 'string' ? (part[name] as string) : undefined
  const title = text('title') || undefined
  const fid = parseFid(text('fileId') ?? '')
  const share_key = text('shareKey') || undefined
  const item: BoardItem = fid
    ? { title, plot: formatFid(fid), share_key }
    : { title, text: text('text') ?? '' }
  return { kind: 'item', item, height: CHART_HEIGHT_PX }
}

/** Checks the rows of a board. Throws `invalid_request` with the item at fault. */
function checkRows(board: unknown): asserts board is Board {
  if (!isObject(board) || !Array.isArray(board.rows)) throw invalidField('rows', 'must be a list of rows')
  for (const [k, row] of board.rows.entries()) {
    checkMembers(row, BoardRow, `row ${k + 1}`)
    for (const [n, item] of row.items.entries()) checkMembers(item, BoardItem, `row ${k + 1}, item ${n + 1}`)
  }
  checkFilters(board.filters)
  const { rows } = board as unknown as Board
  const count = rows.reduce((sum, { items }) => sum + items.length, 0)
  if (count > MAX_ITEMS) throw invalidField('rows', `have ${count} items; the limit is ${MAX_ITEMS}`)
  for (const [k, { items, height }] of rows.entries()) {
    const row = `row ${k + 1}`
    if (items.length === 0) throw invalidField(row, 'has no items')
    if (height !== undefined && (height < 100 || height > 4000))
      throw invalidField(row, 'height: must be from 100 to 4000')
    for (const [n, item] of items.entries()) checkItem(item, `${row}, item ${n + 1}`)
  }
}

/** Maximum number of filters of a board. */
const MAX_FILTERS = 10

function checkFilters(filters: unknown): void {
  if (filters === undefined) return
  if (!Array.isArray(filters)) throw invalidField('filters', 'must be a list of columns')
  if (filters.length > MAX_FILTERS) throw invalidField('filters', `must be at most ${MAX_FILTERS}`)
  for (const [k, filter] of filters.entries()) {
    checkMembers(filter, BoardFilter, `filter ${k + 1}`)
    if (!filter.column) throw invalidField(`filter ${k + 1}`, 'column: must be the name of a column')
    if (filters.findIndex((one) => one?.column === filter.column) < k)
      throw invalidField(`filter ${k + 1}`, `column: ${JSON.stringify(filter.column)} has a filter already`)
  }
}

/** Kinds of items, each with a member of its name. */
const ITEM_KINDS = ['plot', 'table', 'number', 'text'] as const
type ItemKind = (typeof ITEM_KINDS)[number]

/** Kinds of items that have each member; all have the others. */
const KINDS_BY_MEMBER: Partial<Record<keyof BoardItem, readonly ItemKind[]>> = {
  share_key: ['plot'],
  where: ['table', 'number'],
  sort: ['table'],
  columns: ['table'],
  limit: ['table'],
  value: ['number'],
  unit: ['number'],
  decimals: ['number'],
  change: ['number'],
  spark: ['number'],
  per: ['number'],
}

function checkItem(item: BoardItem, path: string): void {
  const kinds = ITEM_KINDS.filter((kind) => item[kind] !== undefined)
  if (kinds.length !== 1)
    throw invalidField(
      path,
      `must have one of plot, table, number and text${kinds.length > 1 ? `, not ${formatList(kinds)}` : ''}`,
    )
  const [kind] = kinds
  for (const [name, allowed] of Object.entries(KINDS_BY_MEMBER))
    if (item[name as keyof BoardItem] !== undefined && !allowed.includes(kind))
      throw invalidField(path, `${name}: only a ${allowed.join(' or a ')} has it`)
  if (kind !== 'text' && !parseFid(item[kind]!))
    throw invalidField(
      path,
      `${kind}: ${JSON.stringify(item[kind])} is not the id of a file, such as alice:12`,
    )
  if (kind === 'number') checkValue(item.value ?? 'count', path)
  if (item.per !== undefined && (item.spark === undefined || !PERIODS.some((one) => one === item.per)))
    throw invalidField(path, `per: needs spark, and is one of ${PERIODS.join(', ')}`)
  const { width = 1, limit = 1, decimals = 0 } = item
  if (decimals < 0 || decimals > 10) throw invalidField(path, 'decimals: must be from 0 to 10')
  if (!(width > 0 && width <= 100)) throw invalidField(path, 'width: must be from 0 to 100')
  if (limit < 1 || limit > 200) throw invalidField(path, 'limit: must be from 1 to 200')
}

/** Checks the value of a number: `count`, or a function and a column. */
function checkValue(value: string, path: string): void {
  const [, name, column] = /^(\w+)(?::(.+))?$/s.exec(value) ?? []
  const isKnown = AGGREGATE_FUNCTIONS.some((one) => one === name)
  if (isKnown && (column !== undefined || name === 'count')) return
  const [, asked = name ?? '', of = column] = /^(\w+)\((.*)\)$/s.exec(value) ?? []
  const meant = asked === 'avg' ? 'mean' : (findClosest(asked, AGGREGATE_FUNCTIONS) ?? 'sum')
  throw new Problem(
    'invalid_request',
    `${path}: value: ${JSON.stringify(value)} is not a function and a column`,
    {
      field: path,
      hint: `For example: ${meant}:${of || 'amount'}. Functions: ${AGGREGATE_FUNCTIONS.join(', ')}`,
    },
  )
}

/** Whether a value has the type of a JSON Schema. */
const TYPE_TESTS: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  integer: (value) => Number.isSafeInteger(value),
  array: (value) => Array.isArray(value),
  boolean: (value) => typeof value === 'boolean',
}

/** Checks names and types of the members of a row or an item. */
function checkMembers(
  value: unknown,
  { properties }: ObjectSchema,
  path: string,
): asserts value is Record<string, unknown> & { items: unknown[] } {
  if (!isObject(value)) throw invalidField(path, 'must be an object')
  for (const [name, member] of Object.entries(value)) {
    if (!Object.hasOwn(properties, name)) throw unknownMember(path, name, Object.keys(properties))
    const { type = '' } = properties[name]
    const isList = name === 'columns' && Array.isArray(member)
    if (isList && !member.every((one) => typeof one === 'string'))
      throw invalidField(path, `${name}: must be a list of names`)
    if (member !== undefined && !TYPE_TESTS[type]?.(member))
      throw invalidField(path, `${name}: must be of type ${type}`)
  }
  if ('items' in properties && !Array.isArray(value.items)) throw invalidField(path, 'has no items')
}

function unknownMember(path: string, name: string, known: readonly string[]): Problem {
  return new Problem('invalid_request', `${path}: ${JSON.stringify(name)} is not known`, {
    field: path,
    hint: withSuggestion(findClosest(name, known), `Known here: ${known.join(', ')}`),
  })
}

/** Returns the layout for clients that do not know rows: the charts of each row beside each other. */
function toLayout({ rows }: Board): object | null {
  const join = (boxes: object[], direction: string): object | null =>
    boxes.length === 0
      ? null
      : boxes.reduceRight((second, first, k) => ({
          ...{ type: 'split', direction, sizeUnit: '%' },
          ...{ size: 100 / (boxes.length - k), first, second },
        }))
  const lines = rows.flatMap(({ items }) => {
    const boxes = items.flatMap(({ plot, title = '', share_key = null }) =>
      plot === undefined ? [] : [{ type: 'box', boxType: 'plot', fileId: plot, shareKey: share_key, title }],
    )
    return join(boxes, 'horizontal') ?? []
  })
  // A client computes the boxes of a split only.
  const whole = join(lines, 'vertical')
  return whole && 'boxType' in whole
    ? {
        ...{ type: 'split', direction: 'vertical', size: 100, sizeUnit: '%' },
        first: whole,
        second: EMPTY_BOX,
      }
    : whole
}

const EMPTY_BOX = { type: 'box', boxType: 'empty' }

/** Parses a JSON object; undefined for other text. */
function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
