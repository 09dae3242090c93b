// Formats and grid names from file names.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { expandFiles } from '../../src/cli/upload/expand.ts'
import {
  compressions,
  type FileFormat,
  fileFormats,
  formatOfFileName,
  gridNameOf,
  uploadNameOf,
} from '../../src/contract/formats.ts'

const extensions = Object.values<FileFormat>(fileFormats).flatMap((format) => format.extensions)
const compressed = ['', ...Object.values(compressions).map(({ extensions: [first] }) => `.${first}`)]

it('grid names have no extension of a format or compression', () => {
  for (const extension of extensions)
    for (const packed of compressed)
      expect(gridNameOf(`folder/my.sales.${extension}${packed}`)).toBe('my.sales')
  expect(gridNameOf('u\u0308n.csv')).toBe('\u00fcn')
  expect(gridNameOf('sales.csv.zip')).toBe('sales')
  expect(gridNameOf('report.2024')).toBe('report.2024')
  expect(gridNameOf('.csv')).toBe('Untitled grid')
  expect(gridNameOf(undefined)).toBe('Untitled grid')
})

it('a grid gets the name that was given, also one that ends like the name of a file', () => {
  for (const name of [
    'sales',
    'sales.csv',
    'report.2024',
    'v2.json',
    'x.zip',
    'x.tar.gz',
    'un.csv.zip',
    'etc.',
    'a..',
  ])
    for (const file of [
      undefined,
      'data',
      ...extensions.flatMap((one) => compressed.map((end) => `f.${one}${end}`)),
    ])
      expect(gridNameOf(uploadNameOf(name, file))).toBe(name)
  expect(uploadNameOf('sales', 'f.csv.gz')).toBe('sales.csv.gz')
  // Without an extension, the name says nothing about the format.
  expect(formatOfFileName(uploadNameOf('plain.json', undefined)!)).toBe(undefined)
  expect(uploadNameOf(undefined, 'f.csv')).toBe('f.csv')
})

it('a directory yields files of all formats, but no plain text files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'formats-'))
  try {
    const directory = join(folder, 'all')
    mkdirSync(directory)
    for (const extension of extensions)
      for (const packed of compressed) writeFileSync(join(directory, `x.${extension}${packed}`), '')
    writeFileSync(join(directory, 'picture.png'), '')
    const { files, skipped } = expandFiles([directory], {})
    expect(skipped.map((file) => file.slice(directory.length + 1)).sort()).toEqual([
      'picture.png',
      'x.dat',
      'x.txt',
    ])
    expect(files.length).toBe(extensions.length * compressed.length - 2)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
