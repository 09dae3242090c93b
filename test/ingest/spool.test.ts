// Temporary folders that cannot be used.
import { afterEach, expect, it } from 'vitest'
import { spoolToFile } from '../../src/ingest/archive/spool.ts'
import { toByteStream } from '../../src/json/index.ts'

const { TMPDIR } = process.env
afterEach(() => {
  if (TMPDIR === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = TMPDIR
})

it.each([
  ['/nowhere/there', 'the folder does not exist'],
  [import.meta.filename, 'not a folder'],
])('an unusable temporary folder (%s) is reported with its setting', async (path, why) => {
  process.env.TMPDIR = path
  const spooled = spoolToFile(toByteStream(Buffer.from('x')), 10, () => new Error() as never)
  await expect(spooled).rejects.toMatchObject({
    code: 'no_temporary_folder',
    message: expect.stringContaining(`${path} cannot be written to: ${why}`),
    hint: expect.stringContaining('TMPDIR'),
  })
})
