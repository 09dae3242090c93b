/**
 * The words of a command line, as a POSIX shell splits them: quotes and backslashes are removed, an open quote ends with
 * the line, and a blank at the end begins an empty word. Variables are not expanded.
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

/** How much of a word bash keeps when it replaces `last`, its part after the last colon, equals or at sign. */
export function keptLength(word: string, last: string): number {
  const [replaced = ''] = /^[:=@]$/.test(last) ? [''] : splitLine(last)
  return word.endsWith(replaced) ? word.length - replaced.length : 0
}
