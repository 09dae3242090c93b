// Detects color support.
/**
 * Returns whether output to a stream is colored: never with NO_COLOR or TERM=dumb, always with FORCE_COLOR or
 * CLICOLOR_FORCE (except 0), otherwise on a terminal.
 */
export function hasColor(stream: { isTTY?: boolean }, environment: NodeJS.ProcessEnv): boolean {
  const { NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, TERM } = environment
  if (NO_COLOR) return false
  const forceSetting = FORCE_COLOR ?? CLICOLOR_FORCE
  if (forceSetting !== undefined && forceSetting !== '')
    return forceSetting !== '0' && forceSetting !== 'false'
  return stream.isTTY === true && TERM !== 'dumb'
}
