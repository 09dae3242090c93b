// Parses `where` expressions. See docs/filtering.md.
import { childrenOf, type Expression } from './expression.ts'
import { MAX_PATTERN_CHARACTERS } from './like.ts'
import {
  ARITHMETIC,
  type Arithmetic,
  COMPARISON_BY_SPELLING,
  PREDICATES,
  type PredicateWord,
  RESERVED,
} from './operators.ts'
import { queryError, type Token, tokenize } from './tokens.ts'

/** An expression with its text, for messages. */
export interface Where {
  text: string
  expression: Expression
}

/** Maximum number of operators of an expression. */
const MAX_OPERATORS = 1000
const SIGNS = Object.keys(ARITHMETIC) as Arithmetic[]
/** Maximum nesting of parentheses, `not` and signs. */
const MAX_NESTING = 100
/** Parses a `where` expression. Throws `invalid_query` with the position of the error. */
export function parseWhere(text: string): Where {
  return { text, expression: new Parser(text, tokenize('where', text)).parse() }
}

/** Replaces the column names in the text of an expression. */
export function renameColumns(text: string, names: ReadonlyMap<string, string>): string {
  return rewrite(text, ({ text: name }, isColumn) => {
    const newName = isColumn ? names.get(name) : undefined
    return newName === undefined ? undefined : quoteColumnName(newName)
  })
}

/** Returns an expression as a condition of SQL: all names are quoted, and patterns say how they escape. */
export function toSqlCondition(text: string): string {
  let previous = ''
  return rewrite(text, (token, isColumn) => {
    const isPattern = token.kind === 'text' && /^i?like$/i.test(previous)
    previous = token.kind === 'word' ? token.text : ''
    if (isColumn) return `"${token.text.replaceAll('"', '""')}"`
    // Two signs without a space can be another one, or begin a comment.
    const next = text[token.at + token.text.length] ?? ''
    if (token.kind === 'sign' && !/[(),]/.test(token.text) && /\S/.test(next)) return `${token.text} `
    if (!isPattern) return undefined
    // A last backslash stands for itself.
    const pattern = token.text.replace(/(?<!\\)(?:\\\\)*\\$/, '$&\\')
    return `'${pattern.replaceAll("'", "''")}' escape '\\'`
  })
}

/** Replaces tokens in the text of an expression: `replace` returns the new text, or undefined to keep the token. */
function rewrite(text: string, replace: (token: Token, isColumn: boolean) => string | undefined): string {
  const columns = new Set<number>()
  const visit = (expression: Expression): void => {
    if (expression.kind === 'column') columns.add(expression.at)
    for (const child of childrenOf(expression)) visit(child)
  }
  visit(parseWhere(text).expression)
  const tokens = tokenize('where', text)
  let [written, from] = ['', 0]
  for (const [k, token] of tokens.entries()) {
    const newText = replace(token, columns.has(token.at))
    if (newText === undefined) continue
    written += text.slice(from, token.at) + newText
    from = token.at + text.slice(token.at, tokens[k + 1].at).trimEnd().length
  }
  return written + text.slice(from)
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
    if (!this.isAtEnd())
      throw this.createError(
        'expected and, or, or the end',
        this.nextIndex === 1 && this.current.kind === 'word'
          ? 'Names with spaces are in double quotes: "Store Code" = \'OSL\''
          : undefined,
      )
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
    const sign = kind === 'sign' ? COMPARISON_BY_SPELLING.get(text) : undefined
    if (sign) {
      this.nextIndex++
      const expression: Expression = { kind: 'compare', sign, left, right: this.parseSum(), at }
      if (this.current.kind === 'sign' && COMPARISON_BY_SPELLING.has(this.current.text))
        throw this.createError('comparisons cannot be chained', 'Write: low < x and x < high')
      return expression
    }
    if (this.acceptWord('is')) {
      const isNot = this.acceptWord('not')
      this.expect('null', this.acceptWord('null'))
      return negateIf(isNot, { kind: 'null', of: left, at })
    }
    const isNot = this.acceptWord('not')
    const word = PREDICATES.find((candidate) => this.acceptWord(candidate))
    if (word) return negateIf(isNot, this.predicateParsers[word](left, at))
    if (isNot)
      throw this.createError(`expected ${PREDICATES.slice(0, -1).join(', ')} or ${PREDICATES.at(-1)}`)
    return left
  }

  /** Parsers of the rest after `x in`, `x between` and so on. `of`: the value before the word. */
  private readonly predicateParsers: Record<PredicateWord, (of: Expression, at: number) => Expression> = {
    in: (of, at) => {
      this.expect('( after in', this.acceptSign('('))
      const list = [this.parseSum()]
      while (this.acceptSign(',')) list.push(this.parseSum())
      this.expect(', or )', this.acceptSign(')'))
      return { kind: 'in', of, list, at }
    },
    between: (of, at) => {
      const low = this.parseSum()
      this.expect('and', this.acceptWord('and'))
      const high = this.parseSum()
      return { kind: 'between', of, low, high, at }
    },
    like: (of, at) => ({ kind: 'like', of, pattern: this.parsePattern(), anyCase: false, at }),
    ilike: (of, at) => ({ kind: 'like', of, pattern: this.parsePattern(), anyCase: true, at }),
  }

  private parsePattern(): string {
    const { kind, text } = this.current
    if (kind !== 'text') throw this.createError("expected a text after like, such as 'Os%'")
    if (text.length > MAX_PATTERN_CHARACTERS)
      throw this.createError(`the pattern is longer than ${MAX_PATTERN_CHARACTERS} characters`)
    this.nextIndex++
    return text
  }

  private parseSum(): Expression {
    return this.parseChain('sum', () => this.parseProduct())
  }

  private parseProduct(): Expression {
    return this.parseChain('product', () => this.parseSigned())
  }

  private parseChain(level: 'sum' | 'product', operand: () => Expression): Expression {
    let left = operand()
    for (;;) {
      const { at } = this.current
      const sign = SIGNS.find(
        (candidate) => ARITHMETIC[candidate].level === level && this.acceptSign(candidate),
      )
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
