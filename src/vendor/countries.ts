import { byAlpha3, lookupAlpha3 } from 'country-iso-search'

/** Returns the three-letter code of a country that plotly.js knows by its code or its name. It uses the same list. */
export function findCountryCode(place: string, by: 'code' | 'name'): string | undefined {
  return by === 'name' ? lookupAlpha3(place) : byAlpha3.has(place) ? place : undefined
}
