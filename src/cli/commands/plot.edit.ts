// `gridline plot edit`: edits a figure in an editor.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isObject } from '../../charts/figure/figure.ts'
import { resolveFid } from '../../client/index.ts'
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import { assertValidChanges, type Difference, listDifferences } from '../charts/attributes.ts'
import { createFigureBody } from '../charts/create.ts'
import { loadFigure } from '../charts/update-figure.ts'
import { defineCommand } from '../core/define.ts'
import { Planned } from '../core/dry-run.ts'
import { objectOf } from '../core/output-schema.ts'
import { changedView } from '../output/view.ts'

/** Maximum number of differences to print. */
const MAX_PRINTED_DIFFERENCES = 40
/** Maximum length of a printed value. */
const MAX_VALUE_CHARACTERS = 60

export const editCommand = defineCommand({
  output: objectOf('Plot', {
    action: 'replaced or unchanged',
    changes: 'differences, as an array of `{"path", "before", "after"}`',
  }),
  writes: true,
  createsVersions: true,
  reportsToCi: true,
  arguments: '<plot>',
  completion: ['plot'],
  examples: ['gridline plot edit "sales line"', 'EDITOR="code --wait" gridline plot edit alice:7'],
  async run(context, [plot]) {
    const editor = findEditor(context.environment)
    const client = await context.client()
    const fid = await resolveFid(client, plot, 'plot')
    const { figure, headers } = await loadFigure(client, fid)
    const given = `${JSON.stringify(figure, null, 2)}\n`
    const { folder, file } = writeTemporary(given)
    const keepHint = `Your text was saved as ${file}. After fixing it, run: gridline plot update ${fid} ${file}`
    const isKept = (): boolean => {
      if (existsSync(file) && readFileSync(file, 'utf8') !== given) return true
      rmSync(folder, { recursive: true, force: true })
      return false
    }
    const onExit = (): void => {
      if (isKept()) context.messages.note(keepHint)
    }
    process.once('exit', onExit)
    try {
      await runEditor(editor, file)
      const next = parseFigure(readFileSync(file, 'utf8'))
      const changes = listDifferences(figure, next)
      if (changes.length > 0) await assertValidChanges(changes, next)
      for (const change of changes.slice(0, MAX_PRINTED_DIFFERENCES))
        context.messages.note(formatDifference(change))
      if (changes.length > MAX_PRINTED_DIFFERENCES)
        context.messages.note(`… and ${changes.length - MAX_PRINTED_DIFFERENCES} more`)
      if (changes.length > 0 && context.flags.dryRun) throw new Planned('plots.update', fid, {})
      // The etag prevents overwriting changes made by others meanwhile.
      const stored =
        changes.length === 0
          ? await client.call('plots.get', { fid })
          : await client.call('plots.update', {
              fid,
              body: createFigureBody(JSON.stringify(next), {}),
              plainHeaders: headers,
            })
      rmSync(folder, { recursive: true })
      const action = changes.length === 0 ? 'unchanged' : 'replaced'
      return { item: { ...stored, action, changes }, view: changedView }
    } catch (error) {
      if (error instanceof Planned) rmSync(folder, { recursive: true })
      throw error instanceof Planned || !isKept() ? error : withKeepHint(error, keepHint)
    } finally {
      process.off('exit', onExit)
    }
  },
})

/** Writes a text to a file in a new folder. */
function writeTemporary(text: string): { folder: string; file: string } {
  let folder: string | undefined
  try {
    folder = mkdtempSync(join(tmpdir(), 'gridline-'))
    const file = join(folder, 'figure.json')
    writeFileSync(file, text, { mode: 0o600 })
    return { folder, file }
  } catch (error) {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    throw new Problem('failed', `cannot write to ${tmpdir()}: ${errorMessageOf(error)}`, {
      hint: 'Name another folder in the variable TMPDIR.',
    })
  }
}

/** Adds the hint about the saved text to an error. */
function withKeepHint(error: unknown, keepHint: string): unknown {
  if (!(error instanceof Problem)) return error
  return new Problem(error.code, error.message, { hint: [error.hint, keepHint].filter(Boolean).join(' ') })
}

/** Returns the command of the editor, `vi` if none is set. Throws `usage` if `vi` would have no terminal. */
function findEditor(environment: NodeJS.ProcessEnv): string {
  const editor = environment.VISUAL || environment.EDITOR
  if (!editor && !process.stdin.isTTY)
    throw new Problem('usage', 'the editor needs a terminal', {
      hint: 'In scripts, use gridline plot set, or gridline plot data and gridline plot update.',
    })
  return editor || 'vi'
}

/** Opens a file in the editor and waits until it exits. Throws `failed` on a nonzero exit code. */
async function runEditor(command: string, file: string): Promise<void> {
  // As in git, the command can contain arguments.
  const shell = process.platform === 'win32' ? undefined : '/bin/sh'
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

/** Parses a figure. Throws `bad_data`. */
function parseFigure(text: string): { data: object[]; layout: object } {
  const refuse = (reason: string): Problem => new Problem('bad_data', `not a figure: ${reason}`)
  let figure: unknown
  try {
    figure = JSON.parse(text)
  } catch (error) {
    throw refuse(errorMessageOf(error))
  }
  if (!isObject(figure) || !Array.isArray(figure.data) || typeof (figure.layout ?? '') !== 'object')
    throw refuse('expected a list "data" and an object "layout"')
  return { ...figure, data: figure.data, layout: figure.layout }
}

/** Formats a difference as one line. */
function formatDifference({ path, before, after }: Difference): string {
  const formatValue = (value: unknown): string => {
    const text = value === undefined ? 'none' : JSON.stringify(value)
    return text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text
  }
  return `${path}: ${formatValue(before)} → ${formatValue(after)}`
}
