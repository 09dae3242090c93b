/** What an object is. Nothing refers to `writing` and `ended` ones. See docs/adr/0031. */
export const STATES = { writing: 0, live: 1, ended: 2 } as const
