import { byAlpha3, lookupAlpha3 } from 'country-iso-search'

/** Returns whether plotly.js knows a country by its three-letter code or its name. It uses the same list. */
export function isCountry(place: string, by: 'code' | 'name'): boolean {
  return by === 'code' ? byAlpha3.has(place) : lookupAlpha3(place) !== undefined
}
