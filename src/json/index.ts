// Parses JSON without converting its values, and yields to the event loop during long work.
export { asBuffer, type Bytes, ensureCapacity as withRoom, toByteStream as once } from './bytes.ts'
export {
  concatAsync as joinInTurns,
  loadAhead,
  shouldYield as turnIsLong,
  yieldToEventLoop as breathe,
} from './event-loop.ts'
export { excerpt } from './excerpt.ts'
export {
  detectMoment as momentIn,
  isCalendarDay as isDay,
  type Moment,
  parseInstant as instantOf,
  parseInstantBytes as instantIn,
  parseTwoDigits as twoDigits,
} from './iso-date.ts'
export {
  decodeMemberName as memberName,
  decodeStringAsync as textInTurns,
  findStringEnd as endOfString,
  findValueEnd as endOf,
  hasEscapes,
  type JsonLimits,
  jsonKindOf as kindOf,
  type Member,
  NO_JSON_LIMITS as acceptedBefore,
  nextValue,
  parseMembersAsync as parseMembersInTurns,
  parseRaw,
  parseRawAsync as parseRawInTurns,
  RawJson,
  skipWhitespace as skipBlanks,
} from './raw-json.ts'
export { type RequestOrigin as Worker, WorkBudget as Work } from './work-budget.ts'
