// Bar modes of plotly.js layouts.

/** Returns whether a layout stacks bars: `stack` adds up all of them, `relative` each sign from zero. */
export function isStacked({ barmode }: { barmode?: unknown }): boolean {
  return barmode === 'stack' || barmode === 'relative'
}
