// Headers of HTML pages.

/** Content security policy of pages. They contain user input: nothing inline, nothing from other hosts. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "frame-src 'self'",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ')

/**
 * Headers of HTML pages. URLs can contain a share key, so other sites get no referrer. Forms must send their
 * origin, so the referrer policy is not `no-referrer`, which sends `null`.
 */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': PAGE_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cache-control': 'private, no-cache',
}
