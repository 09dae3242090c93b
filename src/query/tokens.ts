import { Problem } from '../contract/errors.ts'

/** Longest expression, in characters. */
const MAX_CHARACTERS = 10_000

/** A word, a number, a text, a name in quotes, or a sign. `at`: its first character, from 0. */
export interface Token {
  kind: 'word' | 'number' | 'text' | 'name' | 'sign' | 'end'
  /** As it is meant: without quotes. */
  text: string
  at: number
}

/** Returns the error for an expression that cannot be read: names the place and shows what is there. */
export function badQuery(field: string, given: string, at: number, message: string, hint?: string): Problem {
  const near = given.slice(at, at + 30)
  const place = near.trim() === '' ? 'at the end' : `at character ${at + 1}, near ${JSON.stringify(near)}`
  return new Problem('invalid_query', `${field}: ${message}, ${place}`, { field, hint })
}

const BLANK = /\s+/y
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y
const WORD = /[\p{L}_][\p{L}\p{M}\p{N}_]*/uy
const SIGN = /<=|>=|<>|!=|==|[=<>+\-*/%(),]/y
const QUOTED = { "'": /'((?:[^']|'')*)'/y, '"': /"((?:[^"]|"")*)"/y, '`': /`((?:[^`]|``)*)`/y } as const

/** Returns the words, numbers and signs of an expression. Throws `invalid_query`. */
export function tokensOf(field: string, given: string): Token[] {
  if (given.length > MAX_CHARACTERS)
    throw new Problem(
      'invalid_query',
      `${field}: ${given.length} characters; at most ${MAX_CHARACTERS} are read`,
      { field },
    )
  const tokens: Token[] = []
  let at = 0
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    return pattern.exec(given)
  }
  const add = (kind: Token['kind'], length: number, text: string): void => {
    tokens.push({ kind, text, at })
    at += length
  }
  while (at < given.length) {
    const blank = match(BLANK)
    if (blank) {
      at += blank[0].length
      continue
    }
    const quote = given[at] as keyof typeof QUOTED
    if (Object.hasOwn(QUOTED, quote)) {
      const found = match(QUOTED[quote])
      if (!found) throw badQuery(field, given, at, `the quote ${quote} is not closed`)
      add(quote === "'" ? 'text' : 'name', found[0].length, found[1].replaceAll(quote + quote, quote))
      continue
    }
    const number = match(NUMBER)
    const word = match(WORD)
    const sign = match(SIGN)
    if (number) {
      add('number', number[0].length, number[0])
      WORD.lastIndex = at
      if (WORD.test(given))
        throw badQuery(
          field,
          given,
          tokens[tokens.length - 1].at,
          'a name cannot begin with a digit',
          'Put names with other characters than letters, digits and _ in double quotes: "2024 total".',
        )
    } else if (word) add('word', word[0].length, word[0])
    else if (sign) add('sign', sign[0].length, sign[0])
    else {
      const isSign = /^(?:&|\|)/.test(given.slice(at))
      const hint = isSign
        ? 'Write and, or.'
        : 'Put names of columns in double quotes, and texts in single quotes.'
      throw badQuery(field, given, at, 'this character has no meaning', hint)
    }
  }
  tokens.push({ kind: 'end', text: '', at })
  return tokens
}
