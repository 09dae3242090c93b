// Runs each session in transcripts/, which also documents its commands.
// `UPDATE_TRANSCRIPTS=1 npx vitest run test/cli/transcripts.test.ts` writes the output.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { gridline } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const transcripts = fileURLToPath(new URL('./transcripts/', import.meta.url))
const folder = temporaryFolder()
afterAll(folder.remove)

interface Step {
  /** The command line, after `$ `. */
  line: string
  /** The output, and the exit code unless it is 0. */
  expected: string
}

/** Parses the steps of a transcript: `$ command`, then its output; lines of stderr begin with `2> `. */
function stepsOf(text: string): { title: string; steps: Step[] } {
  const [title, ...blocks] = text.split(/^\$ /m)
  return {
    title,
    steps: blocks.map((block) => {
      const end = block.indexOf('\n')
      return { line: block.slice(0, end), expected: block.slice(end + 1) }
    }),
  }
}

/** Splits a command line into words, with single and double quotes. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, (_, one, two) => one ?? two),
  )
}

/** Replaces text that differs between machines or runs. */
function stable(text: string): string {
  const user = userInfo().username
  return text
    .replaceAll(folder.path, '/folder')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(new RegExp(`\\b${user}:(\\d+)`, 'g'), 'me:$1')
    .replaceAll(`~${user}/`, '~me/')
    .replace(new RegExp(`(^|\\t)${user}(?=\\t|$)`, 'gm'), '$1me')
    .replace(/"(uid|id|api_key)":"[^"]*"/g, '"$1":"…"')
    .replace(/\b[0-9a-f]{6}\t/g, 'UID\t')
}

async function run(line: string, cwd: string): Promise<string> {
  // `echo TEXT > FILE` writes a file; `echo TEXT | gridline …` pipes into a command.
  const made = /^printf '([^']*)' > (\S+)$/.exec(line)
  if (made) {
    mkdirSync(join(cwd, made[2], '..'), { recursive: true })
    writeFileSync(join(cwd, made[2]), made[1].replaceAll('\\n', '\n'))
    return ''
  }
  const [, fed, command] = /^(?:printf '([^']*)' \| )?gridline (.*)$/.exec(line) ?? []
  if (command === undefined) throw new Error(`not a line of a transcript: ${line}`)
  const { code, stdout, stderr } = await gridline(wordsOf(command), {
    home: join(cwd, '.home'),
    cwd,
    stdin: fed?.replaceAll('\\n', '\n'),
  })
  // The number of progress lines depends on the machine.
  const errors = stderr.replace(/^.*bytes\/s\n/gm, '').replace(/^(?=.)/gm, '2> ')
  return stable(`${stdout}${errors}${code === 0 ? '' : `[exit ${code}]\n`}`)
}

describe('transcripts', () => {
  for (const file of readdirSync(transcripts)) {
    it(file.replace('.txt', ''), async () => {
      const path = join(transcripts, file)
      const { title, steps } = stepsOf(readFileSync(path, 'utf8'))
      const cwd = join(folder.path, file)
      mkdirSync(cwd, { recursive: true })
      const printed: string[] = []
      for (const { line } of steps) printed.push(await run(line, cwd))
      const text = title + steps.map(({ line }, k) => `$ ${line}\n${printed[k]}\n`).join('')
      if (process.env.UPDATE_TRANSCRIPTS) writeFileSync(path, `${text.trimEnd()}\n`)
      else expect(`${text.trimEnd()}\n`).toBe(readFileSync(path, 'utf8'))
    })
  }
})
