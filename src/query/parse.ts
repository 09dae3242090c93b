// Parses `where` expressions. See docs/filtering.md.
import { likeSteps, MAX_PATTERN_CHARACTERS } from './like.ts'
import { badQuery, type Token, tokensOf } from './tokens.ts'

/**
 * A parsed expression: comparisons, `and`, `or`, `not`, `in`, `like`, `ilike`, `between`, `is null` and
 * arithmetic. `at`: position in the text, from 0.
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

/** An expression with its text, for messages. */
export interface Where {
  text: string
  expression: Expression
}

/** Maximum number of operators of an expression. */
const MAX_OPERATORS = 1000
/** Maximum nesting of parentheses, `not` and signs. */
const DEEPEST = 100
/** Reserved words. A column of such a name is written in double quotes. */
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

/** Parses a `where` expression. Throws `invalid_query` with the position of the error. */
export function parseWhere(text: string): Where {
  return { text, expression: new Parser(text, tokensOf('where', text)).whole() }
}

/** Returns the names of the columns that an expression reads, without duplicates. */
export function columnsOf(expression: Expression): string[] {
  return [...usesOf(expression).columns.keys()]
}

/** Replaces the column names in the text of an expression. */
export function renamedWhere(text: string, names: ReadonlyMap<string, string>): string {
  const columns = new Set<number>()
  const visit = (expression: Expression): void => {
    if (expression.kind === 'column') columns.add(expression.at)
    for (const child of childrenOf(expression)) visit(child)
  }
  visit(parseWhere(text).expression)
  const tokens = tokensOf('where', text)
  let [written, from] = ['', 0]
  for (const [k, { at, text: name }] of tokens.entries()) {
    const newName = columns.has(at) ? names.get(name) : undefined
    if (newName === undefined) continue
    written += text.slice(from, at) + nameText(newName)
    from = at + text.slice(at, tokens[k + 1].at).trimEnd().length
  }
  return written + text.slice(from)
}

/** Counts the nodes of an expression, and the steps per character of each column. */
export function usesOf(expression: Expression): { all: number; columns: ReadonlyMap<string, number> } {
  const columns = new Map<string, number>()
  let nodes = 0
  const visit = (node: Expression, steps = 1): void => {
    nodes++
    if (node.kind === 'column') columns.set(node.name, (columns.get(node.name) ?? 0) + steps)
    // A list of constants is a single lookup.
    if (node.kind === 'in' && node.list.every(({ kind }) => kind === 'literal')) visit(node.of)
    else if (node.kind === 'like') visit(node.of, likeSteps(node.pattern, node.anyCase))
    else for (const child of childrenOf(node)) visit(child)
  }
  visit(expression)
  return { all: nodes, columns }
}

function childrenOf(expression: Expression): readonly Expression[] {
  if ('left' in expression) return [expression.left, expression.right]
  if (expression.kind === 'in') return [expression.of, ...expression.list]
  if (expression.kind === 'between') return [expression.of, expression.low, expression.high]
  return 'of' in expression ? [expression.of] : []
}

/** Recursive descent parser. */
class Parser {
  private next = 0
  private depth = 0
  private operators = 0

  constructor(
    private readonly text: string,
    private readonly tokens: readonly Token[],
  ) {}

  whole(): Expression {
    if (this.isAtEnd()) throw this.wrong('expected a condition', "For example: temp > 20 and city = 'Oslo'")
    const expression = this.either()
    if (this.here.kind === 'sign' && this.here.text === '(')
      throw this.wrong('functions are not supported', 'Use ilike to ignore case, and between for dates.')
    if (!this.isAtEnd()) throw this.wrong('expected and, or, or the end')
    return expression
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

  /** Consumes the next token if it is this reserved word. Returns whether it was. */
  private takes(word: string): boolean {
    const { kind, text } = this.here
    const isIt = kind === 'word' && text.toLowerCase() === word
    if (isIt) this.pass()
    return isIt
  }

  /** Consumes the next token if it is this sign. Returns whether it was. */
  private takesSign(sign: string): boolean {
    const isIt = this.here.kind === 'sign' && this.here.text === sign
    if (isIt && sign !== ',') this.pass()
    else if (isIt) this.next++
    return isIt
  }

  /** Consumes an operator. Throws if there are too many. */
  private pass(): void {
    if (++this.operators > MAX_OPERATORS) throw this.wrong(`more than ${MAX_OPERATORS} operators`)
    this.next++
  }

  /** Throws `invalid_query` unless the expected token was found. */
  private needs(what: string, isThere: boolean): void {
    if (!isThere) throw this.wrong(`expected ${what}`)
  }

  /** Parses one level deeper. Throws if that is too deep. */
  private nested(read: () => Expression): Expression {
    if (++this.depth > DEEPEST) throw this.wrong(`nested more than ${DEEPEST} times`)
    const expression = read()
    this.depth--
    return expression
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
      const expression: Expression = { kind: 'compare', sign, left, right: this.sum(), at }
      const after = this.here
      if (after.kind === 'sign' && Object.hasOwn(COMPARISONS, after.text))
        throw this.wrong('comparisons cannot be chained', 'Write: low < x and x < high')
      return expression
    }
    if (this.takes('is')) {
      const isNot = this.takes('not')
      this.needs('null', this.takes('null'))
      return negatedIf(isNot, { kind: 'null', of: left, at })
    }
    const isNot = this.takes('not')
    const expression = this.membership(left, at)
    if (isNot && !expression) throw this.wrong('expected in, like, ilike or between')
    return expression ? negatedIf(isNot, expression) : left
  }

  /**
   * Parses the rest after `x` or `x not`: `in (…)`, `like '…'`, `between … and …`; undefined for other
   * tokens.
   */
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
      throw this.wrong(`the pattern is longer than ${MAX_PATTERN_CHARACTERS} characters`)
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
      const sign = signs.find((candidate) => this.takesSign(candidate))
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
      const expression = this.nested(() => this.either())
      this.needs(')', this.takesSign(')'))
      return expression
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

/** Returns a column name as written in an expression, quoted if necessary. */
export function nameText(name: string): string {
  const isPlain = /^[\p{L}_][\p{L}\p{M}\p{N}_]*$/u.test(name) && !RESERVED.has(name.toLowerCase())
  return isPlain ? name : `"${name.replaceAll('"', '""')}"`
}

function negatedIf(isNot: boolean, of: Expression): Expression {
  return isNot ? { kind: 'not', of, at: of.at } : of
}

/** Parses a number. Integers that a double cannot represent become a bigint. */
export function numberOf(text: string): number | bigint {
  const value = Number(text)
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(text) ? value : BigInt(text)
}
