// Parses JSON without converting its values, and yields to the event loop during long work.
export { asBuffer, type Bytes, ensureCapacity, joinValues, toByteStream } from './bytes.ts'
export { decodeStringAsync, parseJsonString } from './decode-string.ts'
export {
  concatAsync,
  loadAhead,
  shouldYield,
  yieldToEventLoop,
} from './event-loop.ts'
export { excerpt } from './excerpt.ts'
export { isJson } from './is-json.ts'
export {
  detectMoment,
  isCalendarDay,
  type Moment,
  parseInstant,
  parseInstantBytes,
  parseTwoDigits,
} from './iso-date.ts'
export { borrowBuffer, lendBuffer, returnBuffer } from './lent-buffers.ts'
export { peek, resumeStream } from './peek.ts'
export { decodeMemberName, type JsonLimits, type Member, NO_JSON_LIMITS, RawJson } from './raw-json.ts'
export {
  findStringEnd,
  findValueEnd,
  hasEscapes,
  jsonKindOf,
  nextItem,
  nextValue,
  skipWhitespace,
} from './scan.ts'
export { parseShortNumber } from './short-number.ts'
export { parseMembersAsync, parseRaw, parseRawAsync } from './validate.ts'
export { type RequestOrigin, WorkBudget } from './work-budget.ts'
