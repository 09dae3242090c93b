/** Variables of services and commands under test: on a busy machine, queries take longer than their limit allows. */
export const PATIENT = { GRIDLINE_LIMIT_QUERY_SECONDS: '120' }
