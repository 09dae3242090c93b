/**
 * States of an object. Only `live` ones are referenced. See docs/adr/0031.
 */
export const OBJECT_STATES = { writing: 0, live: 1, ended: 2 } as const
