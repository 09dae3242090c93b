/**
 * Characters that are not shown, or change the order in which others are shown: marks and overrides of direction, line
 * and paragraph separators, blanks without width. Joiners are not among them: scripts and emoji need them.
 */
export const HIDDEN = /[\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/
