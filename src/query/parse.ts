import { likeSteps, MAX_PATTERN_CHARACTERS } from './like.ts'
import { badQuery, type Token, tokensOf } from './tokens.ts'

/**
 * The language of `where`: comparisons, `and`, `or`, `not`, `in`, `like`, `ilike`, `between`, `is null` and arithmetic.
 * See docs/filtering.md.
 */
export type Expression = { at: number } & (
  | { kind: 'literal'; value: number | bigint | string | boolean | null }
  | { kind: 'column'; name: string }
  | { kind: 'not' | 'negative'; of: Expression }
  | { kind: 'and' | 'or'; left: Expression; right: Expression }
  | { kind: 'compare'; sign: Comparison; left: Expression; right: Expression }
  | { kind: 'arithmetic'; sign: Arithmetic; left: Expression; right: Expression }
  | { kind: 'in'; of: Expression; list: readonly Expression[] }
  | { kind: 'between'; of: Expression; low: Expression; high: Expression }
  | { kind: 'like'; of: Expression; pattern: string; anyCase: boolean }
  | { kind: 'null'; of: Expression }
)
export type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>='
export type Arithmetic = '+' | '-' | '*' | '/' | '%'

/** An expression with the text it was read from, for messages. */
export interface Where {
  text: string
  expression: Expression
}

/** Operators of one expression. */
const MAX_OPERATORS = 1000
/** Deepest nesting of parentheses, `not` and signs. */
const DEEPEST = 100
/** Words that are part of the language. A column of such a name is written in double quotes. */
const RESERVED = new Set('and or not in like ilike between is null true false'.split(' '))
const COMPARISONS: Readonly<Record<string, Comparison>> = {
  '=': '=',
  '==': '=',
  '<>': '<>',
  '!=': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
}

/** Reads a `where` expression. Throws `invalid_query` with the place of what cannot be read. */
export function parseWhere(text: string): Where {
  return { text, expression: new Parser(text, tokensOf('where', text)).whole() }
}

/** The names of the columns that an expression reads, each once. */
export function columnsOf(expression: Expression): string[] {
  return [...usesOf(expression).columns.keys()]
}

/** The text of an expression with other names of columns. */
export function renamedWhere(text: string, names: ReadonlyMap<string, string>): string {
  const columns = new Set<number>()
  const visit = (one: Expression): void => {
    if (one.kind === 'column') columns.add(one.at)
    for (const child of childrenOf(one)) visit(child)
  }
  visit(parseWhere(text).expression)
  const tokens = tokensOf('where', text)
  let [written, from] = ['', 0]
  for (const [k, { at, text: name }] of tokens.entries()) {
    const other = columns.has(at) ? names.get(name) : undefined
    if (other === undefined) continue
    written += text.slice(from, at) + nameText(other)
    from = at + text.slice(at, tokens[k + 1].at).trimEnd().length
  }
  return written + text.slice(from)
}

/** The number of all parts of an expression, and the steps that it takes for each character of a column. */
export function usesOf(expression: Expression): { all: number; columns: ReadonlyMap<string, number> } {
  const columns = new Map<string, number>()
  let all = 0
  const visit = (one: Expression, steps = 1): void => {
    all++
    if (one.kind === 'column') columns.set(one.name, (columns.get(one.name) ?? 0) + steps)
    // A list of constants is looked up at once.
    if (one.kind === 'in' && one.list.every(({ kind }) => kind === 'literal')) visit(one.of)
    else if (one.kind === 'like') visit(one.of, likeSteps(one.pattern, one.anyCase))
    else for (const child of childrenOf(one)) visit(child)
  }
  visit(expression)
  return { all, columns }
}

function childrenOf(one: Expression): readonly Expression[] {
  if ('left' in one) return [one.left, one.right]
  if (one.kind === 'in') return [one.of, ...one.list]
  if (one.kind === 'between') return [one.of, one.low, one.high]
  return 'of' in one ? [one.of] : []
}

class Parser {
  private next = 0
  private depth = 0
  private operators = 0

  constructor(
    private readonly text: string,
    private readonly tokens: readonly Token[],
  ) {}

  whole(): Expression {
    if (this.isAtEnd()) throw this.wrong('a condition is missing', "For example: temp > 20 and city = 'Oslo'")
    const found = this.either()
    if (this.here.kind === 'sign' && this.here.text === '(')
      throw this.wrong(
        'there are no functions',
        'Texts are compared in any case with ilike, and dates with between.',
      )
    if (!this.isAtEnd()) throw this.wrong('expected and, or, or the end')
    return found
  }

  private get here(): Token {
    return this.tokens[this.next]
  }

  private isAtEnd(): boolean {
    return this.here.kind === 'end'
  }

  private wrong(message: string, hint?: string): Error {
    return badQuery('where', this.text, this.here.at, message, hint)
  }

  /** Whether the next token is this word of the language; if so, it is read. */
  private takes(word: string): boolean {
    const { kind, text } = this.here
    const isIt = kind === 'word' && text.toLowerCase() === word
    if (isIt) this.pass()
    return isIt
  }

  private takesSign(sign: string): boolean {
    const isIt = this.here.kind === 'sign' && this.here.text === sign
    if (isIt && sign !== ',') this.pass()
    else if (isIt) this.next++
    return isIt
  }

  /** Goes on after an operator. */
  private pass(): void {
    if (++this.operators > MAX_OPERATORS) throw this.wrong(`more than ${MAX_OPERATORS} operators`)
    this.next++
  }

  private needs(what: string, isThere: boolean): void {
    if (!isThere) throw this.wrong(`expected ${what}`)
  }

  private nested(read: () => Expression): Expression {
    if (++this.depth > DEEPEST) throw this.wrong(`nested more than ${DEEPEST} times`)
    const found = read()
    this.depth--
    return found
  }

  private either(): Expression {
    let left = this.both()
    for (let { at } = this.here; this.takes('or'); { at } = this.here)
      left = { kind: 'or', left, right: this.both(), at }
    return left
  }

  private both(): Expression {
    let left = this.negated()
    for (let { at } = this.here; this.takes('and'); { at } = this.here)
      left = { kind: 'and', left, right: this.negated(), at }
    return left
  }

  private negated(): Expression {
    const { at } = this.here
    return this.takes('not') ? { kind: 'not', of: this.nested(() => this.negated()), at } : this.predicate()
  }

  private predicate(): Expression {
    const left = this.sum()
    const { at, kind, text } = this.here
    if (kind === 'sign' && Object.hasOwn(COMPARISONS, text)) {
      this.next++
      const sign = COMPARISONS[text]
      const found: Expression = { kind: 'compare', sign, left, right: this.sum(), at }
      const after = this.here
      if (after.kind === 'sign' && Object.hasOwn(COMPARISONS, after.text))
        throw this.wrong('comparisons cannot be chained', 'Write: low < x and x < high')
      return found
    }
    if (this.takes('is')) {
      const isNot = this.takes('not')
      this.needs('null', this.takes('null'))
      return negatedIf(isNot, { kind: 'null', of: left, at })
    }
    const isNot = this.takes('not')
    const found = this.membership(left, at)
    if (isNot && !found) throw this.wrong('expected in, like, ilike or between')
    return found ? negatedIf(isNot, found) : left
  }

  /** What follows `x` or `x not`: `in (…)`, `like '…'`, `between … and …`. */
  private membership(of: Expression, at: number): Expression | undefined {
    if (this.takes('in')) {
      this.needs('( after in', this.takesSign('('))
      const list = [this.sum()]
      while (this.takesSign(',')) list.push(this.sum())
      this.needs(', or )', this.takesSign(')'))
      return { kind: 'in', of, list, at }
    }
    if (this.takes('between')) {
      const low = this.sum()
      this.needs('and', this.takes('and'))
      const high = this.sum()
      return { kind: 'between', of, low, high, at }
    }
    const anyCase = this.here.text.toLowerCase() === 'ilike'
    if (!this.takes('like') && !this.takes('ilike')) return undefined
    const { kind, text: pattern } = this.here
    if (kind !== 'text') throw this.wrong("expected a text after like, such as 'Os%'")
    if (pattern.length > MAX_PATTERN_CHARACTERS)
      throw this.wrong(`a pattern has at most ${MAX_PATTERN_CHARACTERS} characters`)
    this.next++
    return { kind: 'like', of, pattern, anyCase, at }
  }

  private sum(): Expression {
    return this.chain(['+', '-'], () => this.product())
  }

  private product(): Expression {
    return this.chain(['*', '/', '%'], () => this.signed())
  }

  private chain(signs: readonly Arithmetic[], operand: () => Expression): Expression {
    let left = operand()
    for (;;) {
      const { at } = this.here
      const sign = signs.find((one) => this.takesSign(one))
      if (!sign) return left
      left = { kind: 'arithmetic', sign, left, right: operand(), at }
    }
  }

  private signed(): Expression {
    const { at } = this.here
    if (this.takesSign('+')) return this.nested(() => this.signed())
    if (!this.takesSign('-')) return this.primary()
    const of = this.nested(() => this.signed())
    const isNumber = of.kind === 'literal' && (typeof of.value === 'number' || typeof of.value === 'bigint')
    return isNumber ? { ...of, value: -(of.value as number), at } : { kind: 'negative', of, at }
  }

  private primary(): Expression {
    const { kind, text, at } = this.here
    if (this.takesSign('(')) {
      const found = this.nested(() => this.either())
      this.needs(')', this.takesSign(')'))
      return found
    }
    if (kind === 'end' || kind === 'sign') throw this.wrong('expected a column, a number or a text')
    this.next++
    if (kind === 'number') return { kind: 'literal', value: numberOf(text), at }
    if (kind === 'text') return { kind: 'literal', value: text, at }
    if (kind === 'name') return { kind: 'column', name: text, at }
    const word = text.toLowerCase()
    if (word === 'true' || word === 'false') return { kind: 'literal', value: word === 'true', at }
    if (word === 'null') return { kind: 'literal', value: null, at }
    if (!RESERVED.has(word)) return { kind: 'column', name: text, at }
    this.next--
    throw this.wrong(
      'expected a column, a number or a text',
      `If ${text} is a column, write it in double quotes: "${text}".`,
    )
  }
}

/** The name of a column as an expression writes it. */
export function nameText(name: string): string {
  const isPlain = /^[\p{L}_][\p{L}\p{M}\p{N}_]*$/u.test(name) && !RESERVED.has(name.toLowerCase())
  return isPlain ? name : `"${name.replaceAll('"', '""')}"`
}

function negatedIf(isNot: boolean, of: Expression): Expression {
  return isNot ? { kind: 'not', of, at: of.at } : of
}

/** A number as it is compared: a whole number that a double cannot hold is exact. */
export function numberOf(text: string): number | bigint {
  const value = Number(text)
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(text) ? value : BigInt(text)
}
