import type { Client } from '../../client/index.ts'
import type { Schema } from '../../contract/schema.ts'
import type { Context } from '../core/context.ts'

/** What a tool answers: texts, and images as base64. */
export type Content = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string }

export interface Call {
  context: Context
  client: Client
  /** The arguments, without those that are missing. */
  given: Record<string, unknown>
  /** Whether tools may change files. */
  mayWrite: boolean
}

/** A task that an agent can be given. */
export interface Tool {
  description: string
  properties: Record<string, Schema>
  required: readonly string[]
  /** It changes files: it is offered with `--allow-write` only. */
  writes?: true
  run(call: Call): Promise<Content[]>
}

export function textContent(text: string): Content[] {
  return [{ type: 'text', text }]
}

export function jsonContent(value: unknown): Content[] {
  return textContent(JSON.stringify(value))
}
