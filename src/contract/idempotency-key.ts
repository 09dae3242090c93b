// Creates idempotency keys.

/**
 * Returns a unique idempotency key, which begins with the time: the server then stores keys next to each other. Not
 * secret; the crypto module takes longer to load than most requests.
 */
export function createIdempotencyKey(): string {
  const part = (): string =>
    Math.floor(Math.random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
  return `${Date.now().toString(16).padStart(12, '0')}${part()}${part()}${part()}`
}
