/** What differs between two figures. */
export interface AttributeChange {
  /** `data[0].marker.color`. */
  attribute: string
  /** undefined: it was not there. */
  before: unknown
  after: unknown
}

/** The attributes that differ, in the order of their names. Data arrays are compared as a whole. */
export function changedAttributes(before: unknown, after: unknown, at = ''): AttributeChange[] {
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    return names.flatMap((name) =>
      changedAttributes(before[name], after[name], at === '' ? name : `${at}.${name}`),
    )
  }
  if (isList(before) && isList(after)) {
    const length = Math.max(before.length, after.length)
    return Array.from({ length }, (_, k) => changedAttributes(before[k], after[k], `${at}[${k}]`)).flat()
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ attribute: at, before, after }]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An array of traces, annotations or other objects. */
function isList(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.every(isObject)
}
