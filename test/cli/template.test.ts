// --template.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compileTemplate } from '../../src/cli/output/template.ts'
import { gridline } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder()
const run = (...args: string[]) => gridline(args, { home: join(folder.path, 'home'), cwd: folder.path })
beforeAll(async () => {
  writeFileSync(join(folder.path, 'a.csv'), 'n\n1\n')
  await run('upload', 'a.csv')
})
afterAll(folder.remove)

describe('a template', () => {
  it.each([
    ['{fid} {filename}', 'al:1 sales'],
    ['{filename}\\t{row_count}\\n', 'sales\t2\n'],
    ['{{{filename}}}', '{sales}'],
    ['{metadata.owner.name} {metadata.none} {metadata}', 'Kim  {"owner":{"name":"Kim"}}'],
    ['\\\\ \\d', '\\ \\d'],
    ['{parent}', ''],
    ['{metadata.__proto__.constructor}', ''],
  ])('%j', (text, line) => {
    const row = {
      fid: 'al:1',
      filename: 'sales',
      row_count: 2,
      metadata: { owner: { name: 'Kim' } },
      parent: null,
    }
    expect(compileTemplate(text, Object.keys(row))(row)).toBe(line)
  })

  it.each([
    ['{fild}', /no field named fild.*/],
    ['{', /a single {/],
    ['a } b', /a single }/],
    ['{}', /a single {/],
  ])('%j is refused', (text, message) => {
    expect(() => compileTemplate(text, ['fid', 'filename'])).toThrow(message)
  })
})

it('--template prints a line for each result', async () => {
  expect((await run('ls', '--template', '{filename} is a {filetype}')).stdout).toBe('a is a grid\n')
  expect((await run('--template', '{row_count}', 'show', 'a')).stdout).toBe('1\n')
})

it.each([
  [['ls', '--template', '{filenam}'], /Did you mean filename/],
  [['ls', '--template', '{fid}', '--json'], /cannot be used with --json/],
  [['cat', 'a', '--template', '{n}'], /no field named n|lists and details/],
])('%j is a usage error', async (args, message) => {
  const { code, stdout, stderr } = await run(...args)
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(message)])
})
