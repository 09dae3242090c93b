// `gridline mcp`: an MCP server for AI agents, over stdio.
import { formatErrorBody, Problem } from '../../contract/errors.ts'
import { version } from '../../contract/version.ts'
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  Server,
  StdioServerTransport,
} from '../../vendor/mcp.ts'
import { type Content, type Tool, textContent } from '../agents/tool.ts'
import { TOOLS } from '../agents/tools.ts'
import type { Context } from '../core/context.ts'
import { defineCommand } from '../core/define.ts'
import { otherOutput } from '../core/output-schema.ts'

/** Maximum length of a text returned to an agent. */
const MAX_RESULT_CHARACTERS = 100_000

export const command = defineCommand({
  output: otherOutput('nothing; the output is the Model Context Protocol'),
  mayWrite: true,
  options: [{ flags: '--allow-write', description: 'also offer tools that change files' }],
  examples: ['gridline mcp', 'gridline mcp --allow-write --profile work'],
  async run(context, _, { allowWrite }) {
    const mayWrite = allowWrite === true
    const offered = new Map(Object.entries(TOOLS).filter(([, tool]) => mayWrite || !tool.writes))
    const server = new Server({ name: 'gridline', version }, { capabilities: { tools: {} } })
    server.setRequestHandler(ListToolsRequestSchema, async () => ({
      tools: [...offered].map(([name, tool]) => describeTool(name, tool)),
    }))
    // Finish running calls after the end of input.
    const running = new Set<Promise<unknown>>()
    const track = <T>(work: Promise<T>): Promise<T> => {
      const tracked = work.finally(() => running.delete(tracked))
      running.add(tracked)
      return tracked
    }
    const call = async (params: { name: string; arguments?: Record<string, unknown> }) => {
      const tool = offered.get(params.name)
      if (!tool) throw new Problem('usage', `no tool named ${params.name}`)
      try {
        return { content: await runTool(context, tool, params.arguments ?? {}, mayWrite) }
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        return {
          isError: true,
          content: [{ type: 'text' as const, text: JSON.stringify(formatErrorBody(error)) }],
        }
      }
    }
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => track(call(params)))
    const ended = new Promise<void>((resolve) => {
      server.onclose = () => resolve()
      process.stdin.once('end', () => resolve())
    })
    await server.connect(new StdioServerTransport())
    await ended
    // Dispatch requests that have already arrived.
    await new Promise(setImmediate)
    await Promise.allSettled([...running])
    await new Promise(setImmediate)
    await server.close()
    return undefined
  },
})

/** Converts a tool to its description in MCP. */
function describeTool(name: string, { description, properties, required, writes }: Tool) {
  return {
    name,
    description,
    inputSchema: {
      type: 'object' as const,
      properties,
      required: [...required],
    },
    annotations: { readOnlyHint: writes !== true && name !== 'api' && name !== 'chart' },
  }
}

/** Runs a tool. Throws `invalid_request` for missing or unknown arguments. */
async function runTool(
  context: Context,
  { properties, required, run }: Tool,
  toolArguments: Record<string, unknown>,
  mayWrite: boolean,
): Promise<Content[]> {
  const missing = required.find((field) => toolArguments[field] === undefined || toolArguments[field] === '')
  if (missing !== undefined)
    throw new Problem('invalid_request', `${missing}: is missing`, { field: missing })
  const unknown = Object.keys(toolArguments).find((field) => !Object.hasOwn(properties, field))
  if (unknown !== undefined)
    throw new Problem('invalid_request', `${unknown}: unknown argument`, { field: unknown })
  const content = await run({
    context,
    client: await context.client(),
    toolArguments,
    mayWrite,
  })
  return content.map((block) =>
    block.type === 'text' ? textContent(block.text.slice(0, MAX_RESULT_CHARACTERS))[0] : block,
  )
}
