// Splits `where` expressions into tokens, and creates their errors.
import { Problem } from '../contract/errors.ts'
import { ARITHMETIC, COMPARISON_BY_SPELLING } from './operators.ts'

/** Maximum length of an expression. */
const MAX_EXPRESSION_CHARACTERS = 10_000

/** A word, number, text, quoted name or sign. `at`: index of its first character, from 0. */
export interface Token {
  kind: 'word' | 'number' | 'text' | 'name' | 'sign' | 'end'
  /** Value of the token, without quotes. */
  text: string
  at: number
}

/** Creates an `invalid_query` error with the position and the text there. */
export function queryError(
  field: string,
  expression: string,
  at: number,
  message: string,
  hint?: string,
): Problem {
  const near = expression.slice(at, at + 30)
  const place = near.trim() === '' ? 'at the end' : `at character ${at + 1}, near ${JSON.stringify(near)}`
  return new Problem('invalid_query', `${field}: ${message}, ${place}`, { field, hint })
}

const BLANK = /\s+/y
const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y
const WORD = /[\p{L}_][\p{L}\p{M}\p{N}_]*/uy
/** Signs, the longest first. */
const SIGN = new RegExp(
  [...COMPARISON_BY_SPELLING.keys(), ...Object.keys(ARITHMETIC), '(', ')', ',']
    .sort((a, b) => b.length - a.length)
    .map((sign) => sign.replace(/\W/g, '\\$&'))
    .join('|'),
  'y',
)
const QUOTED = { "'": /'((?:[^']|'')*)'/y, '"': /"((?:[^"]|"")*)"/y, '`': /`((?:[^`]|``)*)`/y } as const

/** Splits an expression into tokens. Throws `invalid_query`. */
export function tokenize(field: string, expression: string): Token[] {
  if (expression.length > MAX_EXPRESSION_CHARACTERS)
    throw new Problem(
      'invalid_query',
      `${field}: ${expression.length} characters; the limit is ${MAX_EXPRESSION_CHARACTERS}`,
      { field },
    )
  const tokens: Token[] = []
  let at = 0
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    return pattern.exec(expression)
  }
  const add = (kind: Token['kind'], length: number, text: string): void => {
    tokens.push({ kind, text, at })
    at += length
  }
  while (at < expression.length) {
    const blank = match(BLANK)
    if (blank) {
      at += blank[0].length
      continue
    }
    const quote = expression[at] as keyof typeof QUOTED
    if (Object.hasOwn(QUOTED, quote)) {
      const quoted = match(QUOTED[quote])
      if (!quoted) throw queryError(field, expression, at, `the quote ${quote} is not closed`)
      add(quote === "'" ? 'text' : 'name', quoted[0].length, quoted[1].replaceAll(quote + quote, quote))
      continue
    }
    const number = match(NUMBER)
    const word = match(WORD)
    const sign = match(SIGN)
    if (number) {
      add('number', number[0].length, number[0])
      WORD.lastIndex = at
      if (WORD.test(expression))
        throw queryError(
          field,
          expression,
          tokens[tokens.length - 1].at,
          'a name cannot begin with a digit',
          'Put names with other characters than letters, digits and _ in double quotes: "2024 total".',
        )
    } else if (word) add('word', word[0].length, word[0])
    else if (sign) add('sign', sign[0].length, sign[0])
    else {
      const isSign = /^(?:&|\|)/.test(expression.slice(at))
      const hint = isSign
        ? 'Write and, or.'
        : 'Put column names in double quotes, and texts in single quotes.'
      throw queryError(field, expression, at, 'unexpected character', hint)
    }
  }
  tokens.push({ kind: 'end', text: '', at })
  return tokens
}
