const LONGEST = 5000

/**
 * The letter that tells somebody of a file shared with them. Plain text, so nothing in it is markup;
 * what people wrote (title, words) stands on lines of its own, quoted, so that it is not taken for ours.
 */
export function invitation({
  from,
  title,
  fid,
  link,
  words,
}: {
  from: string
  title: string
  fid: string
  link: string
  words?: string
}): { subject: string; text: string } {
  const lines = [`${from} shares a file with you:`, '', `    ${oneLine(title)}`, `    ${link}`, '']
  if (words !== undefined && words.trim() !== '') {
    lines.push(`${from} writes:`, '', ...quoted(words.slice(0, LONGEST)), '')
  }
  lines.push(`In a terminal: gridline show ${fid}`)
  return { subject: `${from} shares "${oneLine(title)}" with you`, text: `${lines.join('\n')}\n` }
}

function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
}

function quoted(text: string): string[] {
  return text.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => `> ${oneLine(line)}`)
}
