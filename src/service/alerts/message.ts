// Formats the messages of alerts.
import { formatMinute } from '../../contract/duration.ts'
import type { AlertChange } from '../../contract/resources/index.ts'
import { toOneLine } from '../sharing/invitation.ts'

/** The alert that a message is about. */
export interface MessageSubject {
  /** Name of the grid. */
  filename: string
  /** The condition in words. */
  condition: string
  /** Link to the grid. */
  link: string
}

const HEADLINES: Record<AlertChange['state'], string> = {
  firing: 'Firing',
  ok: 'OK again',
  unknown: 'Unknown',
}

/** Formats the headline: `Firing: sales: max(temp) > 40`. */
function formatHeadline(
  { state }: AlertChange,
  { filename, condition }: MessageSubject,
  isTest: boolean,
): string {
  return toOneLine(`${isTest ? 'Test' : HEADLINES[state]}: ${filename}: ${condition}`)
}

/** Formats the body of a message to a URL. `text` is what chats show. */
export function formatWebhookBody(change: AlertChange, subject: MessageSubject, isTest: boolean): string {
  const { state, reason, at } = change
  return JSON.stringify({
    type: isTest ? 'alert.test' : `alert.${state}`,
    timestamp: at,
    text: `${escapeText(`${formatHeadline(change, subject, isTest)} (${toOneLine(reason)})`)} ${subject.link}`,
    data: { ...change, ...subject },
  })
}

/** Escapes what chats read as mentions and links: a cell must not write into the channel. */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Formats a message as an e-mail in plain text. */
export function formatAlertMail(
  change: AlertChange,
  subject: MessageSubject,
  isTest: boolean,
): { subject: string; text: string } {
  const { alert, fid, reason, version, at, previous_state, unsent } = change
  const before = previous_state === 'ok' ? '' : `; it was ${previous_state} before`
  const headline = formatHeadline(change, subject, isTest)
  const lines = [
    headline,
    '',
    `    ${toOneLine(reason)}`,
    `    ${subject.link}`,
    '',
    isTest
      ? `The alert is ${change.state}. This message is a test.`
      : `Since ${formatMinute(at)}, version ${version}${before}.`,
    ...(unsent > 0
      ? [`It changed ${unsent} more times in the last hour, of which no message was sent.`]
      : []),
    '',
    `${fid.split(':')[0]} ends these messages with: gridline alert remove ${alert}`,
  ]
  return { subject: headline, text: `${lines.join('\n')}\n` }
}
