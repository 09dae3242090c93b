// Detects what kind of places a column names.
import type { Problem } from '../../contract/errors.ts'
import { formatList } from '../../contract/message-texts.ts'
import { findStateCode } from '../figure/states.ts'
import { createDataError } from '../spec/errors.ts'
import type { Facts } from '../spec/spec.ts'

/** Detects whether values of column `name` are countries or US states, and notes unknown ones. Throws `bad_data`. */
export async function detectPlaces(
  name: string,
  values: readonly unknown[],
  note: (text: string) => void,
): Promise<Facts['places']> {
  const texts = values.filter((value) => typeof value === 'string')
  const { findCountryCode } = await import('../../vendor/countries.ts')
  /** Notes unknown places. Throws `bad_data` if all are unknown. */
  const noteUnknown = (unknown: readonly string[], kind: string, plural: string): void => {
    const places = [...new Set(unknown)]
    if (places.length === 0) return
    const what = `unknown ${places.length === 1 ? kind : plural}: ${formatList(places, 5)}`
    if (unknown.length === texts.length) throw createPlacesProblem(name, what)
    note(`--x ${name}: ${what}; ${places.length === 1 ? 'it is' : 'they are'} not drawn`)
  }
  /** Notes places that have several rows, under different names: one covers the others. */
  const noteRepeated = (codeOf: (text: string) => string | undefined): void => {
    const textByCode = new Map<string, string>()
    const repeated = new Set<string>()
    for (const text of texts) {
      const code = codeOf(text) ?? text
      const other = textByCode.get(code) ?? text
      if (other !== text) repeated.add(`${other} and ${text}`)
      else textByCode.set(code, text)
    }
    if (repeated.size > 0)
      note(
        `--x ${name}: ${formatList([...repeated], 5)} are the same place on this map; one row of each is seen`,
      )
  }
  const isState = (text: string): boolean => findStateCode(text) !== undefined
  const isCountry = (text: string): boolean => findCountryCode(text, 'name') !== undefined
  const notStates = texts.filter((text) => !isState(text))
  // Georgia is both a country and a state, and GA is a code of Gabon.
  const onlyStates = texts.filter((text) => isState(text) && !isCountry(text)).length
  const onlyCountries = notStates.filter(isCountry).length
  const areCodesOfStates = notStates.length === 0 && texts.every((text) => text.length === 2)
  const areStates = (onlyStates > 0 && onlyStates >= onlyCountries) || areCodesOfStates
  if (notStates.length * 2 < texts.length && areStates) {
    noteUnknown(notStates, 'state', 'states')
    noteRepeated(findStateCode)
    return 'USA-states'
  }
  const by = texts.every((text) => /^[A-Z]{3}$/.test(text)) ? 'code' : 'name'
  const unknown = texts.filter((text) => findCountryCode(text, by) === undefined)
  const short = texts.filter((text) => /^[A-Za-z]{2}$/.test(text))
  if (short.length * 2 > texts.length && unknown.length > 0)
    throw createPlacesProblem(name, `unknown country or state code: ${unknown[0]}`)
  noteUnknown(unknown, 'country', 'countries')
  noteRepeated((text) => findCountryCode(text, by))
  return by === 'code' ? 'ISO-3' : 'country names'
}

function createPlacesProblem(name: string, what: string): Problem {
  return createDataError(
    `--x ${name}: ${what}`,
    name,
    'Use codes of three letters (NOR), English names of countries, or US states (TX or Texas).',
  )
}
