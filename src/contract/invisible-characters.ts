/**
 * Invisible characters, and those that change the order of others: direction marks and overrides, line and
 * paragraph separators, zero-width blanks. Joiners are left out: scripts and emoji need them.
 */
export const INVISIBLE_CHARACTERS = /[\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/
