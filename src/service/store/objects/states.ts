/** What an object is. Nothing refers to `writing` and `ended` ones. See docs/adr/0031-keys-of-objects-are-used-once.md. */
export const STATES = { writing: 0, live: 1, ended: 2 } as const
