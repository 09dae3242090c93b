/**
 * Whether a stream gets colors: never with NO_COLOR or TERM=dumb, always with FORCE_COLOR or CLICOLOR_FORCE (other
 * than 0), otherwise on a terminal.
 */
export function hasColor(stream: { isTTY?: boolean }, environment: NodeJS.ProcessEnv): boolean {
  const { NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, TERM } = environment
  if (NO_COLOR) return false
  const forced = FORCE_COLOR ?? CLICOLOR_FORCE
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false'
  return stream.isTTY === true && TERM !== 'dumb'
}
