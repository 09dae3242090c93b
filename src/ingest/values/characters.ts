// Codes of characters.

export const LF = 0x0a
export const CR = 0x0d
export const TAB = 0x09
export const SPACE = 0x20
export const QUOTE = 0x22
export const COMMA = 0x2c
export const HYPHEN = 0x2d
export const POINT = 0x2e
export const ZERO = 0x30
export const NINE = 0x39
export const COLON = 0x3a
export const BACKSLASH = 0x5c
export const CLOSING_BRACKET = 0x5d
export const LETTER_N = 0x6e
