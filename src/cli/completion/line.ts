/**
 * Splits a command line like a POSIX shell: removes quotes and backslashes, closes an open quote at the end,
 * and treats a trailing blank as the start of an empty word. Does not expand variables.
 */
export function splitLine(line: string): string[] {
  const words: string[] = []
  let word = ''
  let quote = ''
  for (let k = 0; k < line.length; k++) {
    const c = line[k]
    if (quote === "'") {
      if (c === quote) quote = ''
      else word += c
    } else if (c === '\\' && (quote === '' || /["\\$`]/.test(line[k + 1] ?? ''))) word += line[++k] ?? ''
    else if (quote !== '') {
      if (c === quote) quote = ''
      else word += c
    } else if (c === '"' || c === "'") quote = c
    else if (!/\s/.test(c)) word += c
    else if (k > 0 && !(/\s/.test(line[k - 1]) && word === '')) {
      words.push(word)
      word = ''
    }
  }
  return [...words, word]
}

/**
 * Returns the length of the prefix that bash keeps when it replaces `last`, the part after the last colon,
 * equals or at sign.
 */
export function keptPrefixLength(word: string, last: string): number {
  const [replaced = ''] = /^[:=@]$/.test(last) ? [''] : splitLine(last)
  return word.endsWith(replaced) ? word.length - replaced.length : 0
}
