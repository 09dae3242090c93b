// Names of annotations, shapes and labels that charts share.

/** Name of the annotation with the data source. Options create it, and the theme positions it. */
export const SOURCE_NAME = 'gridline-source'

/** Name of the annotations of `--note`. */
export const NOTE_NAME = 'gridline-note'

/** Names of the shapes of `--mark` and `--band`. */
export const MARK_NAME = 'gridline-mark'
export const BAND_NAME = 'gridline-band'

/** Label of rows without a label, and name of the series of rows without a category. */
export const NO_LABEL = '(none)'

/** Returns whether a row has no label: an empty text is none. */
export function isMissingLabel(label: unknown): boolean {
  return label === null || label === undefined || label === ''
}

/** Returns the label that charts show for a label. */
export function labelOf(label: unknown): unknown {
  return isMissingLabel(label) ? NO_LABEL : label
}

/** Row labels of calendars. */
export const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

/** Sixteen compass points, clockwise from north. */
export const COMPASS = [
  'N',
  'NNE',
  'NE',
  'ENE',
  'E',
  'ESE',
  'SE',
  'SSE',
  'S',
  'SSW',
  'SW',
  'WSW',
  'W',
  'WNW',
  'NW',
  'NNW',
]
