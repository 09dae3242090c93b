/** JSON kept as the bytes it came in, and work on many bytes that lets others have their turn. */
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
  parseMembersInTurns,
  parseRaw,
  parseRawInTurns,
  RawJson,
  skipBlanks,
  textInTurns,
} from './raw.ts'
export { breathe, joinInTurns, turnIsLong } from './turn.ts'
export { Work, type Worker } from './work.ts'
