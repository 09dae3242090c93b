// The note on the page of a grid with alerts: their states, for its owner.
import { escapeHtml } from '../../../contract/html.ts'
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
  return `<div class="note">Alerts (<code>gridline alert list</code>):<ul>${alerts.map(renderAlert).join('')}</ul></div>`
}

function renderAlert(alert: AlertRow): string {
  const { state, reason, receiver, error } = alert
  const text = formatCondition(conditionOf(alert))
  const shown = state === 'ok' ? 'ok' : `<strong>${state}</strong>`
  const failure = error === null ? '' : ` <strong>Not sent: ${escapeHtml(error)}</strong>`
  return `<li>${shown}: ${escapeHtml(text)} (${escapeHtml(reason)}), to ${escapeHtml(receiver)}.${failure}</li>`
}
