// Types of MCP tools.
import type { Client } from '../../client/index.ts'
import type { Schema, Static } from '../../contract/schema.ts'
import type { Context } from '../core/context.ts'

/** Result of a tool: texts, and images as base64. */
export type Content = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string }

/** Call of a tool. */
export interface ToolCall {
  context: Context
  client: Client
  /** Arguments. Missing ones are absent. */
  toolArguments: Record<string, unknown>
  /** True if tools may change files. */
  mayWrite: boolean
}

/** Tool for an agent. */
export interface Tool {
  description: string
  properties: Record<string, Schema>
  required: readonly string[]
  /** True for tools that change files: only offered with `--allow-write`. */
  writes?: true
  run(call: ToolCall): Promise<Content[]>
}

/** Declares a tool; `run` gets arguments typed by their schemas. */
export function defineTool<const P extends Tool['properties'], const R extends keyof P & string = never>(
  tool: Omit<Tool, 'properties' | 'required' | 'run'> & {
    properties: P
    required: readonly R[]
    run(call: ToolCall & { toolArguments: ArgumentsOf<P, R> }): Promise<Content[]>
  },
): Tool {
  return tool
}

/** Arguments of a tool by name: required ones, and others. */
type ArgumentsOf<P extends Tool['properties'], R extends keyof P> = { [K in R]: Static<P[K]> } & {
  [K in Exclude<keyof P, R>]?: Static<P[K]>
}

/** Returns a text as content. */
export function textContent(text: string): Content[] {
  return [{ type: 'text', text }]
}

/** Returns a JSON value as content. */
export function jsonContent(value: unknown): Content[] {
  return textContent(JSON.stringify(value))
}
