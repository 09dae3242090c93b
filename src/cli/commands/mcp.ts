import { headerText } from '../../client/index.ts'
import { errorBody, Problem } from '../../contract/errors.ts'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import { type Operation, type OperationName, operations, VERSION } from '../../contract/operations/index.ts'
import type { Schema } from '../../contract/schema.ts'
import { version } from '../../contract/version.ts'
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  Server,
  StdioServerTransport,
} from '../../vendor/mcp.ts'
import type { Context } from '../core/context.ts'
import { defineCommand } from '../core/define.ts'
import { other } from '../core/prints.ts'

/** Characters of an answer that are returned to an agent. */
const LONGEST_CHARACTERS = 100_000
/** Rows of a grid that are returned if the agent asks for no number. */
const MOST_ROWS = 100

export const command = defineCommand({
  prints: other('nothing; it speaks the Model Context Protocol'),
  stores: true,
  options: [{ flags: '--allow-write', description: 'also offer tools that change files' }],
  examples: ['gridline mcp', 'gridline mcp --allow-write --profile work'],
  async run(context, _, { allowWrite }) {
    const tools = toolsOf(allowWrite === true)
    const server = new Server({ name: 'gridline', version }, { capabilities: { tools: {} } })
    server.setRequestHandler(ListToolsRequestSchema, async () => ({
      tools: [...tools.values()].map(({ run: _run, ...tool }) => tool),
    }))
    // Calls that run when the input ends are answered.
    const running = new Set<Promise<unknown>>()
    const counted = <T>(work: Promise<T>): Promise<T> => {
      const one = work.finally(() => running.delete(one))
      running.add(one)
      return one
    }
    const call = async (params: { name: string; arguments?: Record<string, unknown> }) => {
      const tool = tools.get(params.name)
      if (!tool) throw new Problem('usage', `no tool named ${params.name}`)
      try {
        const text = await tool.run(context, params.arguments ?? {})
        return { content: [{ type: 'text' as const, text: text.slice(0, LONGEST_CHARACTERS) }] }
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        return { isError: true, content: [{ type: 'text' as const, text: JSON.stringify(errorBody(error)) }] }
      }
    }
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => counted(call(params)))
    const ended = new Promise<void>((resolve) => {
      server.onclose = () => resolve()
      process.stdin.once('end', () => resolve())
    })
    await server.connect(new StdioServerTransport())
    await ended
    // Requests that have arrived are dispatched first.
    await new Promise(setImmediate)
    await Promise.allSettled([...running])
    await new Promise(setImmediate)
    await server.close()
    return undefined
  },
})

interface Tool {
  name: string
  description: string
  inputSchema: { type: 'object'; properties: Record<string, object>; required: string[] }
  annotations: { readOnlyHint: boolean; destructiveHint: boolean }
  run(context: Context, given: Record<string, unknown>): Promise<string>
}

/** A tool for each operation of the contract, by name. */
function toolsOf(allowWrite: boolean): Map<string, Tool> {
  const tools = new Map<string, Tool>()
  for (const [name, operation] of Object.entries(operations) as [OperationName, Operation][]) {
    const isRead = operation.agents === 'reads'
    if (operation.agents === 'none' || (!isRead && !allowWrite)) continue
    const tool = toolOf(name, operation, isRead)
    tools.set(tool.name, tool)
  }
  return tools
}

function toolOf(name: OperationName, operation: Operation, isRead: boolean): Tool {
  const parameter = /:(\w+)/.exec(operation.path)?.[1]
  const properties: Record<string, object> = {}
  const required: string[] = []
  if (parameter !== undefined) {
    const description = parameter === 'fid' ? 'Id of the file, such as alice:12' : `The ${parameter}`
    properties[parameter] = { type: 'string', description }
    required.push(parameter)
  }
  const query: Record<string, Schema> = {
    ...operation.query?.properties,
    ...(operation.ofVersions && { version: { type: 'string' as const, description: VERSION } }),
  }
  for (const [field, schema] of Object.entries(query)) properties[field] = schema
  required.push(...(operation.query?.required ?? []))
  const { body } = operation
  const fields = body.kind === 'json' ? body.schema : body.kind === 'bytes' ? body.json : undefined
  for (const [field, schema] of Object.entries(fields?.properties ?? {})) properties[field] = schema
  if (body.kind === 'json') required.push(...(fields?.required ?? []))
  const isText = body.kind === 'bytes' && !fields
  if (isText) {
    properties.filename = { type: 'string', description: 'Name of the file, with its extension' }
    properties.content = { type: 'string', description: 'The data, such as CSV' }
    required.push('filename', 'content')
  }
  return {
    name: name.replace('.', '_'),
    description: operation.summary,
    inputSchema: { type: 'object', properties, required: [...new Set(required)] },
    annotations: { readOnlyHint: isRead, destructiveHint: operation.agents === 'changes' },
    async run(context, given) {
      const client = await context.client()
      const missing = required.find((field) => given[field] === undefined)
      if (missing !== undefined)
        throw new Problem('invalid_request', `${missing}: is missing`, { field: missing })
      const pick = (names: readonly string[]): Record<string, unknown> =>
        Object.fromEntries(
          names.filter((field) => given[field] !== undefined).map((field) => [field, given[field]]),
        )
      const asked = pick(Object.keys(query))
      if (name === 'grids.content') {
        asked.format ??= 'csv'
        if (asked.head === undefined && asked.tail === undefined && asked.sample === undefined)
          asked.head = MOST_ROWS
      }
      const what = parameter === undefined ? undefined : String(given[parameter])
      // In a path, these would name another operation.
      if (what !== undefined && /^\.{0,2}$/.test(what))
        throw new Problem('invalid_request', `${parameter}: must not be ${JSON.stringify(what)}`, {
          field: parameter,
        })
      const response = await client.response(name, {
        ...(parameter === 'fid' ? { fid: what } : { name: what }),
        query: asked as never,
        ...(fields ? { json: pick(Object.keys(fields.properties)) as never } : {}),
        ...(isText
          ? {
              plainHeaders: { [FILE_NAME_HEADER]: headerText(String(given.filename)) },
              body: {
                type: 'application/octet-stream',
                repeatable: true,
                async *open() {
                  yield Buffer.from(String(given.content))
                },
              },
            }
          : {}),
      })
      return response.status === 204 ? 'done' : response.text()
    },
  }
}
