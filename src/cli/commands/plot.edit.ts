// `gridline plot edit`: edits a figure in an editor.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resolve } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { assertKnown, type Difference, differencesOf } from '../charts/attributes.ts'
import { storedFigure } from '../charts/change.ts'
import { figureBody } from '../charts/create.ts'
import { defineCommand } from '../core/define.ts'
import { Planned } from '../core/dry-run.ts'
import { object } from '../core/prints.ts'
import { changedView } from '../output/view.ts'

/** Maximum number of differences to print. */
const MAX_SHOWN = 40
/** Maximum length of a printed value. */
const MAX_CHARACTERS = 60

export const edit = defineCommand({
  prints: object('Plot', {
    action: 'replaced or unchanged',
    changes: 'differences, as an array of `{"path", "before", "after"}`',
  }),
  writes: true,
  versions: true,
  reports: true,
  arguments: '<plot>',
  completes: ['plot'],
  examples: ['gridline plot edit "sales line"', 'EDITOR="code --wait" gridline plot edit alice:7'],
  async run(context, [plot]) {
    const client = await context.client()
    const fid = await resolve(client, plot, 'plot')
    const { figure, headers } = await storedFigure(client, fid)
    const folder = mkdtempSync(join(tmpdir(), 'gridline-'))
    const file = join(folder, 'figure.json')
    writeFileSync(file, `${JSON.stringify(figure, null, 2)}\n`, { mode: 0o600 })
    const keepHint = `Your text was saved as ${file}. After fixing it, run: gridline plot update ${fid} ${file}`
    await opened(context.environment, file)
    const text = readFileSync(file, 'utf8')
    const next = parsed(text, keepHint)
    const changes = differencesOf(figure, next)
    if (changes.length === 0) {
      rmSync(folder, { recursive: true })
      return {
        one: { ...(await client.call('plots.get', { fid })), action: 'unchanged', changes },
        view: changedView,
      }
    }
    try {
      await assertKnown(changes, next)
    } catch (error) {
      throw keeping(error, keepHint)
    }
    for (const change of changes.slice(0, MAX_SHOWN)) context.messages.note(lineOf(change))
    if (changes.length > MAX_SHOWN) context.messages.note(`… and ${changes.length - MAX_SHOWN} more`)
    if (context.flags.dryRun) {
      rmSync(folder, { recursive: true })
      throw new Planned('plots.update', fid, {})
    }
    try {
      // The etag prevents overwriting changes made by others meanwhile.
      const body = figureBody(JSON.stringify(next), {})
      const file = await client.call('plots.update', { fid, body, plainHeaders: headers })
      rmSync(folder, { recursive: true })
      return { one: { ...file, action: 'replaced', changes }, view: changedView }
    } catch (error) {
      throw keeping(error, keepHint)
    }
  },
})

/** Adds the hint about the saved text to an error. */
function keeping(error: unknown, keepHint: string): unknown {
  if (!(error instanceof Problem)) return error
  return new Problem(error.code, error.message, { hint: [error.hint, keepHint].filter(Boolean).join(' ') })
}

/** Opens a file in the editor and waits until it exits. Throws `failed` on a nonzero exit code. */
async function opened(environment: NodeJS.ProcessEnv, file: string): Promise<void> {
  const editor = environment.VISUAL || environment.EDITOR
  if (!editor && !process.stdin.isTTY)
    throw new Problem('usage', 'the editor needs a terminal', {
      hint: 'In scripts, use gridline plot set, or gridline plot data and gridline plot update.',
    })
  // As in git, the variable can contain arguments.
  const shell = process.platform === 'win32' ? undefined : '/bin/sh'
  const command = editor || 'vi'
  const child = shell
    ? spawn(shell, ['-c', `${command} "$1"`, 'sh', file], { stdio: 'inherit' })
    : spawn(command, [file], { stdio: 'inherit', shell: true })
  const code = await new Promise<number>((done, fail) => {
    child.once('error', fail)
    child.once('close', (status) => done(status ?? 1))
  })
  if (code !== 0)
    throw new Problem('failed', `the editor failed with exit code ${code}; nothing was saved`, {
      hint: 'Set another editor with the variable EDITOR.',
    })
}

/** Parses a figure. Throws `bad_data`, with the hint. */
function parsed(text: string, keepHint: string): { data: object[]; layout: object } {
  const refuse = (reason: string): Problem =>
    new Problem('bad_data', `not a figure: ${reason}`, { hint: keepHint })
  let figure: unknown
  try {
    figure = JSON.parse(text)
  } catch (error) {
    throw refuse((error as Error).message)
  }
  const { data, layout } = (figure ?? {}) as { data?: unknown; layout?: unknown }
  if (!Array.isArray(data) || typeof layout !== 'object' || layout === null)
    throw refuse('expected a list "data" and an object "layout"')
  return figure as { data: object[]; layout: object }
}

/** Formats a difference as one line. */
function lineOf({ path, before, after }: Difference): string {
  const formatValue = (value: unknown): string => {
    const text = value === undefined ? 'none' : JSON.stringify(value)
    return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text
  }
  return `${path}: ${formatValue(before)} → ${formatValue(after)}`
}
