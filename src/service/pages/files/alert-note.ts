// The note on the page of a grid with alerts: their states, for its owner.
import { escapeHtml } from '../../../contract/html.ts'
import { formatCount } from '../../../contract/message-texts.ts'
import { conditionOf, formatCondition } from '../../grids/alerts/condition.ts'
import type { AlertRow } from '../../store/aggregates/alerts.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { Readers } from '../../store/store.ts'

/** Renders the note; empty for a grid without alerts. */
export async function renderAlertNote(readers: Readers, file: FileRow, isOwner: boolean): Promise<string> {
  // The flag of grids that something follows.
  if (!isOwner || !file.feeds) return ''
  const alerts = await readers.alerts.list(file)
  if (alerts.length === 0) return ''
  const fine = alerts.filter(({ state, error }) => state === 'ok' && error === null)
  const others = alerts.filter((alert) => !fine.includes(alert))
  const list = (some: readonly AlertRow[]): string => `<ul>${some.map(renderAlert).join('')}</ul>`
  const folded = `<details><summary>${formatCount(fine.length, 'alert')} ok</summary>${list(fine)}</details>`
  return `<div class="note">${others.length > 0 ? `Alerts (<code>gridline alert list</code>):${list(others)}` : ''}${fine.length > 0 ? folded : ''}</div>`
}

function renderAlert(alert: AlertRow): string {
  const { id, state, reason, receiver, error } = alert
  const text = formatCondition(conditionOf(alert))
  const shown = state === 'ok' ? 'ok' : `<strong>${state}</strong>`
  const failure = error === null ? '' : ` <strong>Not sent: ${escapeHtml(error)}</strong>`
  return `<li>${shown}: ${escapeHtml(text)} (${escapeHtml(reason)}), to ${escapeHtml(receiver)}, <code>${escapeHtml(id)}</code>.${failure}</li>`
}
