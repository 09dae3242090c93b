/**
 * Deterministic automata of simple patterns, over ASCII: the kernel runs them over the bytes of a column. What they accept
 * matches; what they do not accept is looked at again. Patterns that are not simple, or become large, have none.
 */

/** Most states; 0 is the one that nothing leaves. */
const MAX_STATES = 255
/** Most states of the automaton that it is made from. */
const MAX_PLACES = 600
const SYMBOLS = 128

export interface Automaton {
  /** For each state, from 0, the next one for each of 128 bytes. The first one is 1. */
  next: Uint8Array
  /** Of each state, 1 if a text may end there. */
  accepts: Uint8Array
}

/** Bytes from 0 to 127, as bits. */
type Bytes = readonly [number, number, number, number]

type Tree =
  | { kind: 'bytes'; bytes: Bytes }
  | { kind: 'all' | 'any'; parts: Tree[] }
  | { kind: 'repeat'; part: Tree; least: number; most: number }

const NONE: Bytes = [0, 0, 0, 0]
const EVERY: Bytes = [-1, -1, -1, -1]

function bytesOf(...codes: number[]): Bytes {
  const bits = [0, 0, 0, 0]
  for (const code of codes) if (code < SYMBOLS) bits[code >> 5] |= 1 << (code & 31)
  return bits as unknown as Bytes
}

function range(from: number, to: number): Bytes {
  return bytesOf(
    ...Array.from({ length: Math.max(0, Math.min(to, SYMBOLS - 1) - from + 1) }, (_, k) => from + k),
  )
}

function either(a: Bytes, b: Bytes): Bytes {
  return a.map((bits, k) => bits | b[k]) as unknown as Bytes
}

function not(a: Bytes): Bytes {
  return a.map((bits) => ~bits) as unknown as Bytes
}

function has(bytes: Bytes, code: number): boolean {
  return (bytes[code >> 5] & (1 << (code & 31))) !== 0
}

const DIGITS = range(0x30, 0x39)
const WORD = either(either(DIGITS, bytesOf(0x5f)), either(range(0x41, 0x5a), range(0x61, 0x7a)))
const BLANKS = bytesOf(9, 10, 12, 13, 32)
const CLASSES: Readonly<Record<string, Bytes>> = {
  d: DIGITS,
  D: not(DIGITS),
  w: WORD,
  W: not(WORD),
  s: BLANKS,
  S: not(BLANKS),
}

/** The automaton of a pattern that a whole text matches; undefined if it is not simple. */
export function automatonOf(pattern: string): Automaton | undefined {
  const tree = new Parser(pattern).tree()
  return tree && automatonOfTree(tree)
}

/** Whether an automaton accepts a text. */
export function accepts({ next, accepts: ends }: Automaton, text: string): boolean {
  let state = 1
  for (let k = 0; k < text.length; k++) {
    const code = text.charCodeAt(k)
    if (code >= SYMBOLS) return false
    state = next[state * SYMBOLS + code]
  }
  return ends[state] === 1
}

/** Texts of an enumeration that an automaton is made of, at most. */
const MAX_TEXTS = 1000

/** The automaton of some texts. */
export function automatonOfTexts(texts: readonly string[]): Automaton | undefined {
  // Making one of more characters takes longer than it saves.
  if (texts.length > MAX_TEXTS) return undefined
  const plain = texts.filter((text) => /^[\0-\x7f]*$/.test(text))
  return automatonOfTree({
    kind: 'any',
    parts: plain.map((text) => ({
      kind: 'all',
      parts: [...text].map((c) => ({ kind: 'bytes', bytes: bytesOf(c.charCodeAt(0)) })),
    })),
  })
}

/** The automaton of texts of some lengths. */
export function automatonOfLengths(least: number, most: number): Automaton | undefined {
  return automatonOfTree({ kind: 'repeat', part: { kind: 'bytes', bytes: EVERY }, least, most })
}

/** Reads what RE2 and this have in common; everything else is not simple. */
class Parser {
  private at = 0
  private isSimple = true

  constructor(private readonly text: string) {}

  tree(): Tree | undefined {
    // Whole texts are matched anyway.
    if (this.text.startsWith('^')) this.at++
    const tree = this.choice()
    return this.isSimple && this.at === this.text.length ? tree : undefined
  }

  private refuse(): Tree {
    this.isSimple = false
    this.at = this.text.length
    return { kind: 'all', parts: [] }
  }

  private choice(): Tree {
    const parts = [this.sequence()]
    while (this.text[this.at] === '|') {
      this.at++
      parts.push(this.sequence())
    }
    // An anchor is one of the whole pattern only if there is no other choice.
    if (parts.length > 1 && (this.text.startsWith('^') || this.text.endsWith('$'))) return this.refuse()
    return parts.length === 1 ? parts[0] : { kind: 'any', parts }
  }

  private sequence(): Tree {
    const parts: Tree[] = []
    for (;;) {
      const c = this.text[this.at]
      if (c === undefined || c === '|' || c === ')') return { kind: 'all', parts }
      if (c === '$' && this.at === this.text.length - 1) {
        this.at++
        return { kind: 'all', parts }
      }
      parts.push(this.repeated(this.atom()))
      if (!this.isSimple) return this.refuse()
    }
  }

  private atom(): Tree {
    const { text } = this
    const c = text[this.at++]
    if (c === '(') {
      if (text[this.at] === '?') {
        if (text[this.at + 1] !== ':') return this.refuse()
        this.at += 2
      }
      const inside = this.choice()
      if (text[this.at++] !== ')') return this.refuse()
      return inside
    }
    if (c === '[') return this.set()
    if (c === '.') return { kind: 'bytes', bytes: not(bytesOf(10)) }
    if (c === '\\') {
      const bytes = this.escaped()
      return bytes ? { kind: 'bytes', bytes } : this.refuse()
    }
    if ('*+?{}^$'.includes(c) || c.charCodeAt(0) >= SYMBOLS) return this.refuse()
    return { kind: 'bytes', bytes: bytesOf(c.charCodeAt(0)) }
  }

  /** What is after a backslash. */
  private escaped(): Bytes | undefined {
    const c = this.text[this.at++]
    if (c === undefined) return undefined
    if (CLASSES[c]) return CLASSES[c]
    const control = { n: 10, r: 13, t: 9 }[c]
    if (control !== undefined) return bytesOf(control)
    return /[0-9A-Za-z]/.test(c) || c.charCodeAt(0) >= SYMBOLS ? undefined : bytesOf(c.charCodeAt(0))
  }

  private set(): Tree {
    const { text } = this
    const isNegated = text[this.at] === '^'
    if (isNegated) this.at++
    let bytes = NONE
    for (let isFirst = true; isFirst || text[this.at] !== ']'; isFirst = false) {
      const from = this.member()
      if (from === undefined) return this.refuse()
      if (typeof from !== 'number' || text[this.at] !== '-' || text[this.at + 1] === ']') {
        bytes = either(bytes, typeof from === 'number' ? bytesOf(from) : from)
        continue
      }
      this.at++
      const to = this.member()
      if (typeof to !== 'number' || to < from) return this.refuse()
      bytes = either(bytes, range(from, to))
    }
    this.at++
    return { kind: 'bytes', bytes: isNegated ? not(bytes) : bytes }
  }

  /** A character of a set, or several by their name. */
  private member(): number | Bytes | undefined {
    const c = this.text[this.at++]
    // [:alpha:] and the like.
    if (c === undefined || c === '[' || c.charCodeAt(0) >= SYMBOLS) return undefined
    if (c !== '\\') return c.charCodeAt(0)
    const bytes = this.escaped()
    if (!bytes) return undefined
    const codes = Array.from({ length: SYMBOLS }, (_, code) => code).filter((code) => has(bytes, code))
    return codes.length === 1 ? codes[0] : bytes
  }

  private repeated(part: Tree): Tree {
    const rest = this.text.slice(this.at)
    const [all, sign, least, comma, most] = /^(?:([*+?])|\{(\d{1,3})(,)?(\d{1,3})?\})\??/.exec(rest) ?? []
    if (all === undefined) return part
    this.at += all.length
    // Two in a row mean nothing, or something else.
    if (/^[*+?{]/.test(this.text.slice(this.at))) return this.refuse()
    if (sign !== undefined)
      return {
        kind: 'repeat',
        part,
        least: sign === '+' ? 1 : 0,
        most: sign === '?' ? 1 : Number.POSITIVE_INFINITY,
      }
    const from = Number(least)
    const to = comma === undefined ? from : most === undefined ? Number.POSITIVE_INFINITY : Number(most)
    return to < from ? this.refuse() : { kind: 'repeat', part, least: from, most: to }
  }
}

/** An automaton with several next states. */
class Places {
  readonly steps: { bytes: Bytes; to: number }[][] = []
  readonly free: number[][] = []

  add(): number {
    this.steps.push([])
    this.free.push([])
    return this.steps.length - 1
  }

  get isLarge(): boolean {
    return this.steps.length > MAX_PLACES
  }

  /** Adds a tree after a place. Returns where it ends. */
  after(tree: Tree, from: number): number {
    if (this.isLarge) return from
    switch (tree.kind) {
      case 'bytes': {
        const to = this.add()
        this.steps[from].push({ bytes: tree.bytes, to })
        return to
      }
      case 'all':
        return tree.parts.reduce((at, part) => this.after(part, at), from)
      case 'any': {
        const end = this.add()
        for (const part of tree.parts) {
          const start = this.add()
          this.free[from].push(start)
          this.free[this.after(part, start)].push(end)
        }
        return end
      }
      case 'repeat': {
        let at = from
        for (let k = 0; k < tree.least && !this.isLarge; k++) at = this.after(tree.part, at)
        const end = this.add()
        this.free[at].push(end)
        if (tree.most === Number.POSITIVE_INFINITY) {
          const start = this.add()
          this.free[at].push(start)
          const back = this.after(tree.part, start)
          this.free[back].push(start, end)
        } else
          for (let k = tree.least; k < tree.most && !this.isLarge; k++) {
            at = this.after(tree.part, at)
            this.free[at].push(end)
          }
        return end
      }
    }
  }

  /** Places, and all that can be reached from them without a byte; ascending. */
  reach(places: readonly number[]): number[] {
    const seen = new Set(places)
    const open = [...places]
    for (let place = open.pop(); place !== undefined; place = open.pop())
      for (const next of this.free[place])
        if (!seen.has(next)) {
          seen.add(next)
          open.push(next)
        }
    return [...seen].sort((a, b) => a - b)
  }
}

function automatonOfTree(tree: Tree): Automaton | undefined {
  const places = new Places()
  const start = places.add()
  const end = places.after(tree, start)
  if (places.isLarge) return undefined
  const states: number[][] = [[], places.reach([start])]
  const known = new Map([
    ['', 0],
    [states[1].join(), 1],
  ])
  const next = new Uint8Array((MAX_STATES + 1) * SYMBOLS)
  for (let state = 1; state < states.length; state++) {
    const steps = states[state].flatMap((place) => places.steps[place])
    for (let code = 0; code < SYMBOLS; code++) {
      const targets = steps.filter(({ bytes }) => has(bytes, code)).map(({ to }) => to)
      if (targets.length === 0) continue
      const reached = places.reach(targets)
      const key = reached.join()
      let to = known.get(key)
      if (to === undefined) {
        if (states.length > MAX_STATES) return undefined
        to = states.push(reached) - 1
        known.set(key, to)
      }
      next[state * SYMBOLS + code] = to
    }
  }
  const accepts = Uint8Array.from(states, (state) => (state.includes(end) ? 1 : 0))
  return { next: next.subarray(0, states.length * SYMBOLS), accepts }
}
