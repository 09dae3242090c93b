// YAML files of definitions and checks.
import { expect, it } from 'vitest'
import { parseYaml } from '../../src/cli/files/yaml.ts'

const parse = (text: string): Promise<unknown> => parseYaml('a.yml', text, 'bad_data')

it('keys and titles are texts as they are written', async () => {
  expect(
    await parse('title: 1.10\nx-title: 0123\nname: 2024\ncolumns:\n  1.10: a\n  07: b\n  null: c\n'),
  ).toEqual({
    title: '1.10',
    'x-title': '0123',
    name: '2024',
    columns: { '1.10': 'a', '07': 'b', null: 'c' },
  })
  expect(await parse('{1.10: a, 1.1: b, grid: 2024}')).toEqual({ '1.10': 'a', '1.1': 'b', grid: '2024' })
  expect(await parse('x:\n  1.10: a\n  1.1: b\ngrid: 2024')).toEqual({
    x: { '1.10': 'a', '1.1': 'b' },
    grid: '2024',
  })
  expect(await parse('{"enum": [1.0, 2.0], "maximum": 18446744073709551615}')).toEqual({
    enum: [1, 2],
    maximum: 2 ** 64,
  })
  expect(await parse('min: 0.50\nmax: 1e3\nenum: [1, 2.5, "007"]\n')).toEqual({
    min: 0.5,
    max: 1000,
    enum: [1, 2.5, '007'],
  })
})

it('a number that would be another text is refused', async () => {
  for (const [text, message] of [
    ['a: 1\nid: {enum: [007]}', 'a.yml: 007 in line 2 could be a number or a text'],
    ['enum: [1.10]', 'a.yml: 1.10 in line 1 could be a number or a text'],
  ])
    await expect(parse(text)).rejects.toMatchObject({ message })
  await expect(parse('a: 1\nid: {enum: [007]}')).rejects.toMatchObject({
    line: 2,
    hint: expect.stringMatching(/^Write "007" for a text/),
  })
})

it('files that are not one tree are refused in plain words', async () => {
  const aliases = [
    'a: &a [1, 1, 1]',
    ...'bcdefgh'
      .split('')
      .map((name, k) => `${name}: &${name} [${`*${'abcdefgh'[k]}, `.repeat(9)}*${'abcdefgh'[k]}]`),
  ]
  for (const [text, message] of [
    ['a: 1\n---\nb: 2\n', 'a.yml: has several documents; expected one, without --- between them'],
    ['a: &a [*a]', 'a.yml: a value contains itself'],
    [`a: ${'['.repeat(20_000)}`, 'a.yml: is nested too deeply'],
    [aliases.join('\n'), 'a.yml: repeats its parts too often'],
  ])
    await expect(parse(text)).rejects.toMatchObject({ message })
})
