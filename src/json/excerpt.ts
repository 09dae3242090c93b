/** Shortens a text for messages: one line, without control characters, at most `length` characters. */
export function excerpt(bytes: Uint8Array | string, length = 60): string {
  const text = typeof bytes === 'string' ? bytes : Buffer.from(bytes.subarray(0, length * 4)).toString('utf8')
  const clean = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (c) =>
    c === '\t' ? '\\t' : c === '\n' ? '\\n' : c === '\r' ? '\\r' : '\ufffd',
  )
  return clean.length > length ? `${clean.slice(0, length)}…` : clean
}
