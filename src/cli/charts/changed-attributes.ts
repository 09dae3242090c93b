/** Attribute that differs between two figures. */
import { isObject } from '../../charts/figure/figure.ts'
export interface AttributeChange {
  /** Path, such as `data[0].marker.color`. */
  attribute: string
  /** Former value; undefined if the attribute was absent. */
  before: unknown
  after: unknown
}

/** Lists differing attributes by name. Data arrays are compared as a whole. */
export function listChangedAttributes(before: unknown, after: unknown, path = ''): AttributeChange[] {
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    return names.flatMap((name) =>
      listChangedAttributes(before[name], after[name], path === '' ? name : `${path}.${name}`),
    )
  }
  if (isObjectList(before) && isObjectList(after)) {
    const length = Math.max(before.length, after.length)
    return Array.from({ length }, (_, k) =>
      listChangedAttributes(before[k], after[k], `${path}[${k}]`),
    ).flat()
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ attribute: path, before, after }]
}

/** Returns whether a value is an array of objects, such as traces or annotations. */
function isObjectList(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.every(isObject)
}
