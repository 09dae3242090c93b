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

/** Differences that are shown. */
const MAX_SHOWN = 40
/** Characters of a value that is shown. */
const MAX_CHARACTERS = 60

export const edit = defineCommand({
  prints: object('Plot', {
    action: 'replaced or unchanged',
    changes: 'an array of `{"path", "before", "after"}`',
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
    const kept = `Your text is kept in ${file}. To use it once it is right: gridline plot update ${fid} ${file}`
    await opened(context.environment, file)
    const text = readFileSync(file, 'utf8')
    const next = parsed(text, kept)
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
      throw keeping(error, kept)
    }
    for (const change of changes.slice(0, MAX_SHOWN)) context.messages.note(lineOf(change))
    if (changes.length > MAX_SHOWN) context.messages.note(`… and ${changes.length - MAX_SHOWN} more`)
    if (context.flags.dryRun) {
      rmSync(folder, { recursive: true })
      throw new Planned('plots.update', fid, {})
    }
    try {
      // What somebody else has changed meanwhile is not overwritten.
      const body = figureBody(JSON.stringify(next), {})
      const file = await client.call('plots.update', { fid, body, plainHeaders: headers })
      rmSync(folder, { recursive: true })
      return { one: { ...file, action: 'replaced', changes }, view: changedView }
    } catch (error) {
      throw keeping(error, kept)
    }
  },
})

function keeping(error: unknown, kept: string): unknown {
  if (!(error instanceof Problem)) return error
  return new Problem(error.code, error.message, { hint: [error.hint, kept].filter(Boolean).join(' ') })
}

/** Waits until the editor is closed. Throws `failed`. */
async function opened(environment: NodeJS.ProcessEnv, file: string): Promise<void> {
  const editor = environment.VISUAL || environment.EDITOR
  if (!editor && !process.stdin.isTTY)
    throw new Problem('usage', 'an editor needs a terminal', {
      hint: 'In a script, use gridline plot set, or gridline plot data and gridline plot update.',
    })
  // As git does: the variable can have arguments.
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
    throw new Problem('failed', `the editor ended with exit code ${code}, so nothing is saved`, {
      hint: 'Set another one with the variable EDITOR.',
    })
}

function parsed(text: string, kept: string): { data: object[]; layout: object } {
  const refuse = (why: string): Problem => new Problem('bad_data', `not a figure: ${why}`, { hint: kept })
  let figure: unknown
  try {
    figure = JSON.parse(text)
  } catch (error) {
    throw refuse((error as Error).message)
  }
  const { data, layout } = (figure ?? {}) as { data?: unknown; layout?: unknown }
  if (!Array.isArray(data) || typeof layout !== 'object' || layout === null)
    throw refuse('it has no list data, or no object layout')
  return figure as { data: object[]; layout: object }
}

function lineOf({ path, before, after }: Difference): string {
  const plain = (value: unknown): string => {
    const text = value === undefined ? 'none' : JSON.stringify(value)
    return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text
  }
  return `${path}: ${plain(before)} → ${plain(after)}`
}
