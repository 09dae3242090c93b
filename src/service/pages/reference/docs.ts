/** API documentation as a page. */
import { escapeHtml } from '../../../contract/html.ts'
import { methodsOf, type Operation, operations, routesOf } from '../../../contract/operations/index.ts'
import type { Schema } from '../../../contract/schema.ts'
import { renderDocument } from '../html.ts'

/** Renders the API documentation from the contract. */
export function renderDocsPage(url: string, version: string): string {
  const groups = new Map<string, [string, Operation][]>()
  for (const [name, operation] of Object.entries(operations) as [string, Operation][]) {
    const [group] = name.split('.')
    if (!groups.has(group)) groups.set(group, [])
    groups.get(group)!.push([name, operation])
  }
  const body = [...groups].map(
    ([group, entries]) =>
      `<h2 id="${group}">${group}</h2>\n${entries.map(([name, operation]) => renderOperation(name, operation)).join('\n')}`,
  )
  const contents = [...groups.keys()].map((group) => `<a href="#${group}">${group}</a>`).join(' · ')
  return renderDocument(
    'Gridline API',
    `<p>Version ${escapeHtml(version)}, at <code>${escapeHtml(url)}</code>. Machine-readable: <a href="${escapeHtml(url)}/v2/openapi.json">openapi.json</a>.</p>
<p>Credentials: HTTP Basic with username and API key, or Bearer with an API key. Errors are JSON with <code>errors</code>, an array of <code>code</code>, <code>message</code>, <code>field</code>. Every write accepts an <code>Idempotency-Key</code>, and every change an <code>If-Match</code>.</p>
<p>${contents}</p>
${body.join('\n')}`,
  )
}

function renderOperation(name: string, operation: Operation): string {
  const { summary, access, requiresAccount, query, headers, body, status } = operation
  const rows: string[] = []
  const row = (where: string, field: string, schema: Schema, required: boolean): void => {
    rows.push(
      `<tr><td>${where}</td><td><code>${escapeHtml(field)}</code></td><td>${escapeHtml(describeType(schema))}${required ? '' : ', optional'}</td><td>${escapeHtml(schema.description ?? '')}</td></tr>`,
    )
  }
  for (const [field, schema] of Object.entries(query?.properties ?? {}))
    row('query', field, schema, query!.required.includes(field))
  for (const [field, schema] of Object.entries(headers ?? {}))
    row('header', `Gridline-${field}`, schema, false)
  const fields = body.kind === 'json' ? body.schema : body.kind === 'bytes' ? body.json : undefined
  for (const [field, schema] of Object.entries(fields?.properties ?? {}))
    row('body', field, schema, fields!.required.includes(field))
  const bytes = body.kind === 'bytes' ? `<p>Body: ${escapeHtml(body.types.join(', '))}</p>` : ''
  const methods = methodsOf(operation).join(', ')
  const paths = routesOf(operation)
    .map(({ path }) => escapeHtml(path))
    .join('<br>')
  const who = requiresAccount ? `${access}, with an account` : access
  return `<details id="${name}"><summary><code class="m">${methods}</code> <code>${escapeHtml(operation.path)}</code> ${escapeHtml(summary)}</summary>
<p><code>${paths}</code></p>
<p>Access: ${who}. Status: ${status}.</p>${bytes}
${rows.length > 0 ? `<div><table>${rows.join('\n')}</table></div>` : ''}</details>`
}

function describeType(schema: Schema): string {
  if (schema.enum) return schema.enum.join(' | ')
  if (schema.anyOf) return schema.anyOf.map(describeType).join(' | ')
  if (schema.type === 'array') return `array of ${describeType(schema.items ?? {})}`
  return schema.type ?? 'any'
}
