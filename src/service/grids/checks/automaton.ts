// Compiles simple patterns to deterministic automata over ASCII, which the kernel runs over a column.
// A text that an automaton accepts matches. All other texts are tested again with the full pattern.

/** Maximum number of states. State 0 rejects everything. */
const MAX_STATES = 255
/** Maximum number of states of the nondeterministic automaton. */
const MAX_NFA_STATES = 600
const SYMBOLS = 128

/** Deterministic automaton. It begins in state 1. */
export interface Automaton {
  /** Next state, at `state * 128 + byte`. */
  next: Uint8Array
  /** 1 for each accepting state. */
  accepts: Uint8Array
}

/** Set of bytes from 0 to 127, as a bit mask of four integers. */
type ByteSet = readonly number[]

/** Syntax tree of a pattern. `all`: a sequence; `any`: alternatives. */
type Tree =
  | { kind: 'bytes'; bytes: ByteSet }
  | { kind: 'all' | 'any'; parts: Tree[] }
  | { kind: 'repeat'; part: Tree; least: number; most: number }

const NO_BYTES: ByteSet = [0, 0, 0, 0]
const ALL_BYTES: ByteSet = [-1, -1, -1, -1]

function byteSetOf(...codes: number[]): ByteSet {
  const bits = [0, 0, 0, 0]
  for (const code of codes) if (code < SYMBOLS) bits[code >> 5] |= 1 << (code & 31)
  return bits
}

function byteRange(from: number, to: number): ByteSet {
  return byteSetOf(
    ...Array.from({ length: Math.max(0, Math.min(to, SYMBOLS - 1) - from + 1) }, (_, k) => from + k),
  )
}

function union(a: ByteSet, b: ByteSet): ByteSet {
  return a.map((bits, k) => bits | b[k])
}

function complement(a: ByteSet): ByteSet {
  return a.map((bits) => ~bits)
}

function hasByte(bytes: ByteSet, code: number): boolean {
  return (bytes[code >> 5] & (1 << (code & 31))) !== 0
}

const DIGITS = byteRange(0x30, 0x39)
const WORD = union(union(DIGITS, byteSetOf(0x5f)), union(byteRange(0x41, 0x5a), byteRange(0x61, 0x7a)))
const BLANKS = byteSetOf(9, 10, 12, 13, 32)
const CLASSES: Readonly<Record<string, ByteSet>> = {
  d: DIGITS,
  D: complement(DIGITS),
  w: WORD,
  W: complement(WORD),
  s: BLANKS,
  S: complement(BLANKS),
}

/** Compiles a pattern that must match a whole text. Returns undefined if it is not simple, or too large. */
export function compilePattern(pattern: string): Automaton | undefined {
  const tree = new PatternParser(pattern).parse()
  return tree && compileTree(tree)
}

/** Returns whether an automaton accepts a text. */
export function accepts({ next, accepts: ends }: Automaton, text: string): boolean {
  let state = 1
  for (let k = 0; k < text.length; k++) {
    const code = text.charCodeAt(k)
    if (code >= SYMBOLS) return false
    state = next[state * SYMBOLS + code]
  }
  return ends[state] === 1
}

/** Maximum number of texts that are compiled to an automaton. */
const MAX_COMPILED_TEXTS = 1000

/**
 * Compiles an automaton that accepts the ASCII texts of a list. Returns undefined if it would be too large.
 */
export function compileTexts(texts: readonly string[]): Automaton | undefined {
  // Compiling more texts takes longer than it saves.
  if (texts.length > MAX_COMPILED_TEXTS) return undefined
  const plain = texts.filter((text) => /^[\0-\x7f]*$/.test(text))
  return compileTree({
    kind: 'any',
    parts: plain.map((text) => ({
      kind: 'all',
      parts: [...text].map((char) => ({ kind: 'bytes', bytes: byteSetOf(char.charCodeAt(0)) })),
    })),
  })
}

/** Compiles an automaton that accepts ASCII texts of `least` to `most` characters. */
export function compileLengths(least: number, most: number): Automaton | undefined {
  return compileTree({ kind: 'repeat', part: { kind: 'bytes', bytes: ALL_BYTES }, least, most })
}

/** Parses the subset of RE2 syntax that automata support. Patterns with other syntax are not simple. */
class PatternParser {
  private at = 0
  private isSimple = true

  constructor(private readonly text: string) {}

  parse(): Tree | undefined {
    // Patterns match whole texts, so ^ has no effect.
    if (this.text.startsWith('^')) this.at++
    const tree = this.parseChoice()
    return this.isSimple && this.at === this.text.length ? tree : undefined
  }

  private refuse(): Tree {
    this.isSimple = false
    this.at = this.text.length
    return { kind: 'all', parts: [] }
  }

  private parseChoice(): Tree {
    const parts = [this.parseSequence()]
    while (this.text[this.at] === '|') {
      this.at++
      parts.push(this.parseSequence())
    }
    // With alternatives, an anchor belongs to one of them only.
    if (parts.length > 1 && (this.text.startsWith('^') || this.text.endsWith('$'))) return this.refuse()
    return parts.length === 1 ? parts[0] : { kind: 'any', parts }
  }

  private parseSequence(): Tree {
    const parts: Tree[] = []
    for (;;) {
      const char = this.text[this.at]
      if (char === undefined || char === '|' || char === ')') return { kind: 'all', parts }
      if (char === '$' && this.at === this.text.length - 1) {
        this.at++
        return { kind: 'all', parts }
      }
      parts.push(this.parseRepeat(this.parseAtom()))
      if (!this.isSimple) return this.refuse()
    }
  }

  private parseAtom(): Tree {
    const { text } = this
    const char = text[this.at++]
    if (char === '(') {
      if (text[this.at] === '?') {
        if (text[this.at + 1] !== ':') return this.refuse()
        this.at += 2
      }
      const inside = this.parseChoice()
      if (text[this.at++] !== ')') return this.refuse()
      return inside
    }
    if (char === '[') return this.parseSet()
    if (char === '.') return { kind: 'bytes', bytes: complement(byteSetOf(10)) }
    if (char === '\\') {
      const bytes = this.parseEscape()
      return bytes ? { kind: 'bytes', bytes } : this.refuse()
    }
    if ('*+?{}^$'.includes(char) || char.charCodeAt(0) >= SYMBOLS) return this.refuse()
    return { kind: 'bytes', bytes: byteSetOf(char.charCodeAt(0)) }
  }

  /** Parses an escape after its backslash; undefined if it is not supported. */
  private parseEscape(): ByteSet | undefined {
    const char = this.text[this.at++]
    if (char === undefined) return undefined
    if (CLASSES[char]) return CLASSES[char]
    const control = { n: 10, r: 13, t: 9 }[char]
    if (control !== undefined) return byteSetOf(control)
    return /[0-9A-Za-z]/.test(char) || char.charCodeAt(0) >= SYMBOLS
      ? undefined
      : byteSetOf(char.charCodeAt(0))
  }

  /** Parses a character set after its opening bracket. */
  private parseSet(): Tree {
    const { text } = this
    const isNegated = text[this.at] === '^'
    if (isNegated) this.at++
    let bytes = NO_BYTES
    for (let isFirst = true; isFirst || text[this.at] !== ']'; isFirst = false) {
      const from = this.parseSetMember()
      if (from === undefined) return this.refuse()
      if (typeof from !== 'number' || text[this.at] !== '-' || text[this.at + 1] === ']') {
        bytes = union(bytes, typeof from === 'number' ? byteSetOf(from) : from)
        continue
      }
      this.at++
      const to = this.parseSetMember()
      if (typeof to !== 'number' || to < from) return this.refuse()
      bytes = union(bytes, byteRange(from, to))
    }
    this.at++
    return { kind: 'bytes', bytes: isNegated ? complement(bytes) : bytes }
  }

  /** Parses a member of a set: a character code, or a class such as \d. Undefined if it is not supported. */
  private parseSetMember(): number | ByteSet | undefined {
    const char = this.text[this.at++]
    // Classes such as [:alpha:] are not supported.
    if (char === undefined || char === '[' || char.charCodeAt(0) >= SYMBOLS) return undefined
    if (char !== '\\') return char.charCodeAt(0)
    const bytes = this.parseEscape()
    if (!bytes) return undefined
    const codes = Array.from({ length: SYMBOLS }, (_, code) => code).filter((code) => hasByte(bytes, code))
    return codes.length === 1 ? codes[0] : bytes
  }

  /** Parses a repeat operator after `part`, if there is one. */
  private parseRepeat(part: Tree): Tree {
    const rest = this.text.slice(this.at)
    const [all, sign, least, comma, most] = /^(?:([*+?])|\{(\d{1,3})(,)?(\d{1,3})?\})\??/.exec(rest) ?? []
    if (all === undefined) return part
    this.at += all.length
    // Several repeat operators in a row are left to RE2.
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

/** Nondeterministic automaton. `steps`: transitions by byte; `emptySteps`: transitions without one. */
class NondeterministicAutomaton {
  readonly steps: { bytes: ByteSet; to: number }[][] = []
  readonly emptySteps: number[][] = []

  add(): number {
    this.steps.push([])
    this.emptySteps.push([])
    return this.steps.length - 1
  }

  get isLarge(): boolean {
    return this.steps.length > MAX_NFA_STATES
  }

  /** Adds a tree after a state. Returns its end state. Stops if the automaton is too large (`isLarge`). */
  addTree(tree: Tree, from: number): number {
    if (this.isLarge) return from
    switch (tree.kind) {
      case 'bytes': {
        const to = this.add()
        this.steps[from].push({ bytes: tree.bytes, to })
        return to
      }
      case 'all':
        return tree.parts.reduce((at, part) => this.addTree(part, at), from)
      case 'any': {
        const end = this.add()
        for (const part of tree.parts) {
          const start = this.add()
          this.emptySteps[from].push(start)
          this.emptySteps[this.addTree(part, start)].push(end)
        }
        return end
      }
      case 'repeat': {
        let at = from
        for (let k = 0; k < tree.least && !this.isLarge; k++) at = this.addTree(tree.part, at)
        const end = this.add()
        this.emptySteps[at].push(end)
        if (tree.most === Number.POSITIVE_INFINITY) {
          const start = this.add()
          this.emptySteps[at].push(start)
          const back = this.addTree(tree.part, start)
          this.emptySteps[back].push(start, end)
        } else
          for (let k = tree.least; k < tree.most && !this.isLarge; k++) {
            at = this.addTree(tree.part, at)
            this.emptySteps[at].push(end)
          }
        return end
      }
    }
  }

  /** Returns the states that can be reached without a byte, including the given ones; ascending. */
  reachableFrom(states: readonly number[]): number[] {
    const seen = new Set(states)
    const queue = [...states]
    for (let state = queue.pop(); state !== undefined; state = queue.pop())
      for (const next of this.emptySteps[state])
        if (!seen.has(next)) {
          seen.add(next)
          queue.push(next)
        }
    return [...seen].sort((a, b) => a - b)
  }
}

/**
 * Converts a tree to a deterministic automaton (subset construction). Returns undefined if it is too large.
 */
function compileTree(tree: Tree): Automaton | undefined {
  const nfa = new NondeterministicAutomaton()
  const start = nfa.add()
  const end = nfa.addTree(tree, start)
  if (nfa.isLarge) return undefined
  const states: number[][] = [[], nfa.reachableFrom([start])]
  const stateByKey = new Map([
    ['', 0],
    [states[1].join(), 1],
  ])
  const next = new Uint8Array((MAX_STATES + 1) * SYMBOLS)
  for (let state = 1; state < states.length; state++) {
    const steps = states[state].flatMap((place) => nfa.steps[place])
    for (let code = 0; code < SYMBOLS; code++) {
      const targets = steps.filter(({ bytes }) => hasByte(bytes, code)).map(({ to }) => to)
      if (targets.length === 0) continue
      const reached = nfa.reachableFrom(targets)
      const key = reached.join()
      let to = stateByKey.get(key)
      if (to === undefined) {
        if (states.length > MAX_STATES) return undefined
        to = states.push(reached) - 1
        stateByKey.set(key, to)
      }
      next[state * SYMBOLS + code] = to
    }
  }
  const accepts = Uint8Array.from(states, (state) => (state.includes(end) ? 1 : 0))
  return { next: next.subarray(0, states.length * SYMBOLS), accepts }
}
