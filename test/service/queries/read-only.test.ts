// Queries of a database on a disk that is only read.
import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import { TableFiles } from '../../../src/service/queries/table-files.ts'

it('without a folder that can be written, files of queries are temporary', async () => {
  const files = new TableFiles('/proc/queries', 1)
  const folder = await files.createWorkFolder()
  expect(folder.startsWith(tmpdir())).toBe(true)
  await files.close()
})
