// Parses JSON without converting its values, and yields to the event loop during long work.
export { asBuffer, type Bytes, once, withRoom } from './bytes.ts'
export { excerpt } from './excerpt.ts'
export { instantIn, instantOf, isDay, type Moment, momentIn, twoDigits } from './moment.ts'
export {
  acceptedBefore,
  endOf,
  endOfString,
  hasEscapes,
  type JsonLimits,
  kindOf,
  type Member,
  memberName,
  nextValue,
  parseMembersInTurns,
  parseRaw,
  parseRawInTurns,
  RawJson,
  skipBlanks,
  textInTurns,
} from './raw.ts'
export { breathe, joinInTurns, loadAhead, turnIsLong } from './turn.ts'
export { Work, type Worker } from './work.ts'
