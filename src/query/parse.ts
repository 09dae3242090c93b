// Parses `where` expressions. See docs/filtering.md.
import { likeStepsPerCharacter, MAX_PATTERN_CHARACTERS } from './like.ts'
import { queryError, type Token, tokenize } from './tokens.ts'

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
const MAX_NESTING = 100
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
  return { text, expression: new Parser(text, tokenize('where', text)).parse() }
}

/** Returns the names of the columns that an expression reads, without duplicates. */
export function queriedColumns(expression: Expression): string[] {
  return [...countUses(expression).columns.keys()]
}

/** Replaces the column names in the text of an expression. */
export function renameColumns(text: string, names: ReadonlyMap<string, string>): string {
  const columns = new Set<number>()
  const visit = (expression: Expression): void => {
    if (expression.kind === 'column') columns.add(expression.at)
    for (const child of childrenOf(expression)) visit(child)
  }
  visit(parseWhere(text).expression)
  const tokens = tokenize('where', text)
  let [written, from] = ['', 0]
  for (const [k, { at, text: name }] of tokens.entries()) {
    const newName = columns.has(at) ? names.get(name) : undefined
    if (newName === undefined) continue
    written += text.slice(from, at) + quoteColumnName(newName)
    from = at + text.slice(at, tokens[k + 1].at).trimEnd().length
  }
  return written + text.slice(from)
}

/** Counts the nodes of an expression, and the steps per character of each column. */
export function countUses(expression: Expression): { all: number; columns: ReadonlyMap<string, number> } {
  const columns = new Map<string, number>()
  let nodes = 0
  const visit = (node: Expression, steps = 1): void => {
    nodes++
    if (node.kind === 'column') columns.set(node.name, (columns.get(node.name) ?? 0) + steps)
    // A list of constants is a single lookup.
    if (node.kind === 'in' && node.list.every(({ kind }) => kind === 'literal')) visit(node.of)
    else if (node.kind === 'like') visit(node.of, likeStepsPerCharacter(node.pattern, node.anyCase))
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
  private nextIndex = 0
  private depth = 0
  private operators = 0

  constructor(
    private readonly text: string,
    private readonly tokens: readonly Token[],
  ) {}

  parse(): Expression {
    if (this.isAtEnd())
      throw this.createError('expected a condition', "For example: temp > 20 and city = 'Oslo'")
    const expression = this.parseOr()
    if (this.current.kind === 'sign' && this.current.text === '(')
      throw this.createError(
        'functions are not supported',
        'Use ilike to ignore case, and between for dates.',
      )
    if (!this.isAtEnd()) throw this.createError('expected and, or, or the end')
    return expression
  }

  private get current(): Token {
    return this.tokens[this.nextIndex]
  }

  private isAtEnd(): boolean {
    return this.current.kind === 'end'
  }

  private createError(message: string, hint?: string): Error {
    return queryError('where', this.text, this.current.at, message, hint)
  }

  /** Consumes the next token if it is this reserved word. Returns whether it was. */
  private acceptWord(word: string): boolean {
    const { kind, text } = this.current
    const isIt = kind === 'word' && text.toLowerCase() === word
    if (isIt) this.consumeOperator()
    return isIt
  }

  /** Consumes the next token if it is this sign. Returns whether it was. */
  private acceptSign(sign: string): boolean {
    const isIt = this.current.kind === 'sign' && this.current.text === sign
    if (isIt && sign !== ',') this.consumeOperator()
    else if (isIt) this.nextIndex++
    return isIt
  }

  /** Consumes an operator. Throws if there are too many. */
  private consumeOperator(): void {
    if (++this.operators > MAX_OPERATORS) throw this.createError(`more than ${MAX_OPERATORS} operators`)
    this.nextIndex++
  }

  /** Throws `invalid_query` unless the expected token was found. */
  private expect(what: string, isThere: boolean): void {
    if (!isThere) throw this.createError(`expected ${what}`)
  }

  /** Parses one level deeper. Throws if that is too deep. */
  private parseNested(read: () => Expression): Expression {
    if (++this.depth > MAX_NESTING) throw this.createError(`nested more than ${MAX_NESTING} times`)
    const expression = read()
    this.depth--
    return expression
  }

  private parseOr(): Expression {
    let left = this.parseAnd()
    for (let { at } = this.current; this.acceptWord('or'); { at } = this.current)
      left = { kind: 'or', left, right: this.parseAnd(), at }
    return left
  }

  private parseAnd(): Expression {
    let left = this.parseNot()
    for (let { at } = this.current; this.acceptWord('and'); { at } = this.current)
      left = { kind: 'and', left, right: this.parseNot(), at }
    return left
  }

  private parseNot(): Expression {
    const { at } = this.current
    return this.acceptWord('not')
      ? { kind: 'not', of: this.parseNested(() => this.parseNot()), at }
      : this.parsePredicate()
  }

  private parsePredicate(): Expression {
    const left = this.parseSum()
    const { at, kind, text } = this.current
    if (kind === 'sign' && Object.hasOwn(COMPARISONS, text)) {
      this.nextIndex++
      const sign = COMPARISONS[text]
      const expression: Expression = { kind: 'compare', sign, left, right: this.parseSum(), at }
      const after = this.current
      if (after.kind === 'sign' && Object.hasOwn(COMPARISONS, after.text))
        throw this.createError('comparisons cannot be chained', 'Write: low < x and x < high')
      return expression
    }
    if (this.acceptWord('is')) {
      const isNot = this.acceptWord('not')
      this.expect('null', this.acceptWord('null'))
      return negateIf(isNot, { kind: 'null', of: left, at })
    }
    const isNot = this.acceptWord('not')
    const expression = this.parseMembership(left, at)
    if (isNot && !expression) throw this.createError('expected in, like, ilike or between')
    return expression ? negateIf(isNot, expression) : left
  }

  /**
   * Parses the rest after `x` or `x not`: `in (…)`, `like '…'`, `between … and …`; undefined for other
   * tokens.
   */
  private parseMembership(of: Expression, at: number): Expression | undefined {
    if (this.acceptWord('in')) {
      this.expect('( after in', this.acceptSign('('))
      const list = [this.parseSum()]
      while (this.acceptSign(',')) list.push(this.parseSum())
      this.expect(', or )', this.acceptSign(')'))
      return { kind: 'in', of, list, at }
    }
    if (this.acceptWord('between')) {
      const low = this.parseSum()
      this.expect('and', this.acceptWord('and'))
      const high = this.parseSum()
      return { kind: 'between', of, low, high, at }
    }
    const anyCase = this.current.text.toLowerCase() === 'ilike'
    if (!this.acceptWord('like') && !this.acceptWord('ilike')) return undefined
    const { kind, text: pattern } = this.current
    if (kind !== 'text') throw this.createError("expected a text after like, such as 'Os%'")
    if (pattern.length > MAX_PATTERN_CHARACTERS)
      throw this.createError(`the pattern is longer than ${MAX_PATTERN_CHARACTERS} characters`)
    this.nextIndex++
    return { kind: 'like', of, pattern, anyCase, at }
  }

  private parseSum(): Expression {
    return this.parseChain(['+', '-'], () => this.parseProduct())
  }

  private parseProduct(): Expression {
    return this.parseChain(['*', '/', '%'], () => this.parseSigned())
  }

  private parseChain(signs: readonly Arithmetic[], operand: () => Expression): Expression {
    let left = operand()
    for (;;) {
      const { at } = this.current
      const sign = signs.find((candidate) => this.acceptSign(candidate))
      if (!sign) return left
      left = { kind: 'arithmetic', sign, left, right: operand(), at }
    }
  }

  private parseSigned(): Expression {
    const { at } = this.current
    if (this.acceptSign('+')) return this.parseNested(() => this.parseSigned())
    if (!this.acceptSign('-')) return this.parsePrimary()
    const of = this.parseNested(() => this.parseSigned())
    const isNumber = of.kind === 'literal' && (typeof of.value === 'number' || typeof of.value === 'bigint')
    return isNumber ? { ...of, value: -(of.value as number), at } : { kind: 'negative', of, at }
  }

  private parsePrimary(): Expression {
    const { kind, text, at } = this.current
    if (this.acceptSign('(')) {
      const expression = this.parseNested(() => this.parseOr())
      this.expect(')', this.acceptSign(')'))
      return expression
    }
    if (kind === 'end' || kind === 'sign') throw this.createError('expected a column, a number or a text')
    this.nextIndex++
    if (kind === 'number') return { kind: 'literal', value: parseNumberLiteral(text), at }
    if (kind === 'text') return { kind: 'literal', value: text, at }
    if (kind === 'name') return { kind: 'column', name: text, at }
    const word = text.toLowerCase()
    if (word === 'true' || word === 'false') return { kind: 'literal', value: word === 'true', at }
    if (word === 'null') return { kind: 'literal', value: null, at }
    if (!RESERVED.has(word)) return { kind: 'column', name: text, at }
    this.nextIndex--
    throw this.createError(
      'expected a column, a number or a text',
      `If ${text} is a column, write it in double quotes: "${text}".`,
    )
  }
}

/** Returns a column name as written in an expression, quoted if necessary. */
export function quoteColumnName(name: string): string {
  const isPlain = /^[\p{L}_][\p{L}\p{M}\p{N}_]*$/u.test(name) && !RESERVED.has(name.toLowerCase())
  return isPlain ? name : `"${name.replaceAll('"', '""')}"`
}

function negateIf(isNot: boolean, of: Expression): Expression {
  return isNot ? { kind: 'not', of, at: of.at } : of
}

/** Parses a number. Integers that a double cannot represent become a bigint. */
export function parseNumberLiteral(text: string): number | bigint {
  const value = Number(text)
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(text) ? value : BigInt(text)
}
