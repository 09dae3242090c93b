/** The annotation that names where the data comes from. Options make it, and the look places it. */
export const SOURCE = 'gridline-source'

/** The annotations of `--note`. */
export const NOTE = 'gridline-note'

/** Label of rows without a label, and name of the series of rows without a category. */
export const NO_LABEL = '(none)'

/** Days of the week, as calendars name their rows. */
export const WEEKDAYS = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ')

/** The sixteen points of the compass, clockwise from north. */
export const COMPASS = 'N NNE NE ENE E ESE SE SSE S SSW SW WSW W WNW NW NNW'.split(' ')
