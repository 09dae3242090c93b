// Parses JSON without converting its values, and yields to the event loop during long work.
export { asBuffer, type Bytes, ensureCapacity, toByteStream } from './bytes.ts'
export {
  concatAsync,
  loadAhead,
  shouldYield,
  yieldToEventLoop,
} from './event-loop.ts'
export { excerpt } from './excerpt.ts'
export {
  detectMoment,
  isCalendarDay,
  type Moment,
  parseInstant,
  parseInstantBytes,
  parseTwoDigits,
} from './iso-date.ts'
export {
  decodeMemberName,
  decodeStringAsync,
  findStringEnd,
  findValueEnd,
  hasEscapes,
  type JsonLimits,
  jsonKindOf,
  type Member,
  NO_JSON_LIMITS,
  nextValue,
  parseMembersAsync,
  parseRaw,
  parseRawAsync,
  RawJson,
  skipWhitespace,
} from './raw-json.ts'
export { type RequestOrigin, WorkBudget } from './work-budget.ts'
