import { byAlpha3, lookupAlpha3 } from 'country-iso-search'

/** Whether plotly.js knows a country by this code of three letters, or by this name: it looks them up in the same list. */
export function isCountry(place: string, by: 'code' | 'name'): boolean {
  return by === 'code' ? byAlpha3.has(place) : lookupAlpha3(place) !== undefined
}
