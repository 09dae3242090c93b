// Limits from the environment.
import { expect, it } from 'vitest'
import { defaultLimits, listChangedLimits, readLimits } from '../../../src/contract/limits.ts'

it('a limit set in the environment is in effect, and listed as changed', () => {
  const limits = readLimits({ GRIDLINE_LIMIT_COLUMNS: '50', GRIDLINE_URL: 'x', OTHER: undefined })
  expect(limits).toEqual({ ...defaultLimits, columns: 50 })
  expect(listChangedLimits(limits)).toEqual(['columns=50'])
  expect(listChangedLimits(defaultLimits)).toEqual([])
})

it.each([
  [
    'an unknown name',
    { GRIDLINE_LIMIT_COLUMN: '50' },
    /unknown limit/,
    /Did you mean GRIDLINE_LIMIT_COLUMNS\?/,
  ],
  ['an inherited name', { GRIDLINE_LIMIT_CONSTRUCTOR: '50' }, /unknown limit/, /gridline help limits/],
  ['a name in small letters', { GRIDLINE_LIMIT_: '50' }, /unknown limit/, /gridline help limits/],
  ['a unit', { GRIDLINE_LIMIT_UPLOAD_BYTES: '1GB' }, /must be a whole number/, /unit is bytes/],
  ['zero', { GRIDLINE_LIMIT_COLUMNS: '0' }, /must be a whole number/, /default 10000/],
  ['a fraction', { GRIDLINE_LIMIT_COLUMNS: '1.5' }, /must be a whole number/, /columns/],
  ['a number that is not exact', { GRIDLINE_LIMIT_COLUMNS: '9007199254740993' }, /whole number/, /columns/],
  ['nothing', { GRIDLINE_LIMIT_COLUMNS: '' }, /must be a whole number/, /columns/],
])('%s is refused with a hint', (_, environment, message, hint) => {
  const failed = (() => {
    try {
      return readLimits(environment)
    } catch (error) {
      return error
    }
  })()
  expect(failed).toMatchObject({
    code: 'usage',
    message: expect.stringMatching(message),
    hint: expect.stringMatching(hint),
  })
})
