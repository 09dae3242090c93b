/** The annotation that names where the data comes from. Options make it, and the look places it. */
export const SOURCE = 'gridline-source'
