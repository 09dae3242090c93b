// Writes the files of a proposed board into a directory.
import { constants, existsSync } from 'node:fs'
import { copyFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import { makeFolder } from '../files/write-file.ts'
import { formatYaml } from '../files/yaml.ts'
import { formatChartFile } from './chart-file.ts'
import type { ProposedBoard } from './propose-board.ts'

/** A file to write: a text, or the copy of a file. */
export type NewFile = { file: string; text: string } | { file: string; copyOf: string }

/** Returns the files of a proposed board: its own, with the reasons as comments, and those of its charts. */
export async function formatProposal({ title, filters, rows, charts }: ProposedBoard): Promise<NewFile[]> {
  const parts = [await formatYaml({ title })]
  if (filters.length > 0) parts.push('filters:\n')
  for (const { column, why } of filters) parts.push(`${toComment(why)}${indent(await formatYaml([column]))}`)
  parts.push('rows:\n')
  for (const { why, row } of rows) parts.push(`${toComment(why)}${indent(await formatYaml([row]))}`)
  const chartFiles = await Promise.all(
    charts.map(async ({ name, chart }) => ({
      file: `${name}.chart.yml`,
      text: await formatChartFile(chart),
    })),
  )
  return [{ file: 'board.yml', text: parts.join('') }, ...chartFiles]
}

function toComment(text: string): string {
  return `  # ${text.replace(/\s+/g, ' ')}\n`
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ')
}

/** Writes files into a directory, which it creates. Throws `conflict` for one that exists: nothing is replaced. */
export async function writeNewFiles(directory: string, files: readonly NewFile[]): Promise<void> {
  makeFolder(directory)
  // The data may be there already.
  const written = files.filter(
    (one) => !('copyOf' in one) || resolve(one.copyOf) !== resolve(directory, one.file),
  )
  const taken = written.map(({ file }) => join(directory, file)).find((path) => existsSync(path))
  if (taken !== undefined) throw takenProblem(taken)
  for (const one of written) {
    const path = join(directory, one.file)
    try {
      if ('copyOf' in one) await copyFile(one.copyOf, path, constants.COPYFILE_EXCL)
      else await writeFile(path, one.text, { flag: 'wx' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw takenProblem(path)
      throw new Problem('failed', `${path}: ${errorMessageOf(error)}`)
    }
  }
}

function takenProblem(path: string): Problem {
  return new Problem('conflict', `${path}: exists already`, {
    hint: 'Move it away, or choose another directory.',
  })
}
