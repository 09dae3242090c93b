// E-mail that invites somebody to a shared file.
/** Maximum length of the message that the sender may add. */
const MAX_INVITATION_CHARACTERS = 5000

/**
 * Formats the invitation as plain text. User input (title, message) stands on separate, marked lines, so that
 * nobody mistakes it for text of the service.
 */
export function formatInvitation({
  from,
  title,
  fid,
  link,
  message,
}: {
  from: string
  title: string
  fid: string
  link: string
  message?: string
}): { subject: string; text: string } {
  const lines = [`${from} shared a file with you:`, '', `    ${toOneLine(title)}`, `    ${link}`, '']
  if (message !== undefined && message.trim() !== '') {
    lines.push(`${from} writes:`, '', ...quoteLines(message.slice(0, MAX_INVITATION_CHARACTERS)), '')
  }
  lines.push(`To view it in a terminal: gridline show ${fid}`)
  return { subject: `${from} shared "${toOneLine(title)}" with you`, text: `${lines.join('\n')}\n` }
}

/** Replaces line ends and control characters by spaces. */
export function toOneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
}

function quoteLines(text: string): string[] {
  return text.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => `> ${toOneLine(line)}`)
}
