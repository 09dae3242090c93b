// Parsing of global flags, and of the fields after --json.
import { describe, expect, it } from 'vitest'
import { joinJsonFields, moveGlobalFlagsLast } from '../../src/cli/run/argv.ts'

const words = (line: string): string[] => line.split(' ')

describe('global flags in front of the command', () => {
  it.each([
    ['-q ls', 'ls -q'],
    ['--profile work ls Reports', 'ls Reports --profile work'],
    ['--profile=work ls', 'ls --profile=work'],
    ['--json ls', 'ls --json'],
    ['--json fid,filename ls', 'ls --json fid,filename'],
    ['--timeout 5 --local show x', 'show x --timeout 5 --local'],
    ['ls -q', 'ls -q'],
    ['--help', '--help'],
  ])('%s is parsed as %s', (given, moved) => {
    expect(moveGlobalFlagsLast(words(given))).toEqual(words(moved))
  })
})

describe('fields behind --json', () => {
  const known = new Set(['fid', 'filename'])
  it.each([
    ['ls --json fid', 'ls --json=fid'],
    ['ls --json fid,filename Reports', 'ls --json=fid,filename Reports'],
    ['ls --json a,b', 'ls --json=a,b'],
    ['upload --json sales.csv', 'upload --json= sales.csv'],
    ['upload --json sales', 'upload --json= sales'],
    ['show x --json wrong', 'show x --json=wrong'],
    ['ls --json -q', 'ls --json -q'],
    ['ls --json', 'ls --json'],
    ['ls -- --json fid', 'ls -- --json fid'],
  ])('%s is parsed as %s', (given, joined) => {
    expect(joinJsonFields(words(given), known)).toEqual(words(joined))
  })
})
