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
  const { isCountry } = await import('../../vendor/countries.ts')
  /** Notes unknown places. Throws `bad_data` if all are unknown. */
  const noteUnknown = (unknown: readonly string[], kind: string, plural: string): void => {
    const places = [...new Set(unknown)]
    if (places.length === 0) return
    const what = `unknown ${places.length === 1 ? kind : plural}: ${formatList(places, 5)}`
    if (unknown.length === texts.length) throw createPlacesProblem(name, what)
    note(`--x ${name}: ${what}; ${places.length === 1 ? 'it is' : 'they are'} not drawn`)
  }
  const notStates = texts.filter((text) => findStateCode(text) === undefined)
  const countries = texts.filter((text) => isCountry(text, 'name')).length
  // Georgia is both a country and a state.
  if (notStates.length * 2 < texts.length && texts.length - notStates.length > countries) {
    noteUnknown(notStates, 'state', 'states')
    return 'USA-states'
  }
  const areCodes = texts.every((text) => /^[A-Z]{3}$/.test(text))
  const unknown = texts.filter((text) => !isCountry(text, areCodes ? 'code' : 'name'))
  const short = texts.filter((text) => /^[A-Za-z]{2}$/.test(text))
  if (short.length * 2 > texts.length)
    throw createPlacesProblem(name, `unknown country or state code: ${unknown[0]}`)
  noteUnknown(unknown, 'country', 'countries')
  return areCodes ? 'ISO-3' : 'country names'
}

function createPlacesProblem(name: string, what: string): Problem {
  return createDataError(
    `--x ${name}: ${what}`,
    name,
    'Use codes of three letters (NOR), English names of countries, or US states (TX or Texas).',
  )
}
