/** Exit codes of all commands. `errorCodes` of the contract maps errors to them. */
export const EXIT_CODES: Readonly<Record<number, string>> = {
  0: 'success',
  1: 'failure',
  2: 'usage error',
  3: 'not found',
  4: 'not logged in',
  5: 'permission denied',
  6: 'conflict with the current state, such as a name that is taken',
  7: 'invalid data',
  8: 'some files succeeded, some failed',
  9: 'server unreachable, too slow or overloaded; try again later',
  10: 'the compared files differ (`diff --exit-code`)',
  130: 'interrupted',
}
