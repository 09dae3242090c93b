// The OpenAPI document: valid, small, and a generated TypeScript client of it works against a server.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import SwaggerParser from '@apidevtools/swagger-parser'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { gridline, serve } from '../support/cli.ts'
import { itLong } from '../support/property-runs.ts'
import { temporaryFolder } from '../support/service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const temporary = temporaryFolder()
const home = join(temporary.path, 'home')
/** Below the project, so that packages are found. */
const cache = join(root, 'node_modules/.cache')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'gridline-client-'))
let server: Awaited<ReturnType<typeof serve>>
let text: string
beforeAll(async () => {
  server = await serve([], { home })
  text = await (await fetch(`${server.url}/v2/openapi.json`)).text()
})
afterAll(async () => {
  await server.stop()
  temporary.remove()
  rmSync(folder, { recursive: true })
})

it('the document is valid and small, and its ids are names of programming languages', async () => {
  const document = JSON.parse(text)
  const count = Object.values(document.paths as object).flatMap((path) => Object.keys(path)).length
  expect(count).toBeGreaterThan(100)
  expect(text.length / count).toBeLessThan(1650)
  // It changes the document.
  await SwaggerParser.validate(JSON.parse(text))
  for (const name of ['Grid', 'Plot', 'File', 'Folder', 'Version', 'Column', 'Error'])
    expect(Object.keys(document.components.schemas)).toContain(name)
  const described = Object.values(document.paths).flatMap((path) => Object.values(path as object))
  for (const { operationId, responses } of described) {
    expect(operationId).toMatch(/^[a-z]\w+$/)
    expect(Object.keys(responses).some((status) => status.startsWith('4'))).toBe(true)
  }
  const { get } = document.paths['/v2/grids/{fid}']
  expect(Object.keys(get.responses)).toEqual(['200', '304', '400', '401', '403', '404', '429', 'default'])
})

/** A program that uses the client. The compiler checks it against the types of the document. */
const PROGRAM = `
import { HttpError, ok } from '@oazapfts/runtime'
import * as api from './client.ts'

export async function run(url: string, key: string) {
  api.defaults.baseUrl = url
  api.defaults.headers = { authorization: 'Basic ' + btoa('ann:' + key) }
  const data = { cols: { n: { data: [1, 2], order: 0 } } }
  const { file: { fid } } = await ok(api.gridsCreate({ filename: 'g', data }))
  const grid: api.Grid = await ok(api.gridsGet(fid))
  const column: api.Column | undefined = Object.values(grid.cols)[0]
  const missing = await api.gridsGet('ann:999')
  const error: api.Error | undefined = missing.status === 404 ? missing.data as api.Error : undefined
  const renamed: api.File = await ok(api.filesUpdate(fid, { filename: 'h' }))
  const rows: api.RowsAppended = await ok(api.rowsAppend(fid, { rows: [[3]] }))
  const failure: unknown = await ok(api.gridsGet('ann:999')).catch((reason) => reason)
  return {
    rows: grid.row_count,
    type: column?.type,
    code: error?.errors[0].code,
    thrown: failure instanceof HttpError ? failure.status : undefined,
    name: renamed.filename,
    added: rows.rows_added,
  }
}
`

itLong('a generated client compiles strictly, and calls a server', async () => {
  writeFileSync(join(folder, 'openapi.json'), text)
  const generated = spawnSync('npx', ['oazapfts', 'openapi.json', 'client.ts'], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect(generated.status, generated.stderr).toBe(0)
  writeFileSync(join(folder, 'program.ts'), PROGRAM)
  const options =
    '--noEmit --strict --module esnext --moduleResolution bundler --target es2022 --lib es2022,dom'
  const checked = spawnSync(
    'npx',
    [
      'tsc',
      ...options.split(' '),
      '--allowImportingTsExtensions',
      '--ignoreConfig',
      '--types',
      'node',
      'program.ts',
    ],
    { cwd: folder, encoding: 'utf8' },
  )
  expect(checked.stdout + checked.stderr).toBe('')
  const outfile = join(folder, 'program.mjs')
  await build({
    entryPoints: [join(folder, 'program.ts')],
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile,
  })
  const made = await gridline(['admin', 'create-user', 'ann', '--json'], { home })
  const { run } = await import(pathToFileURL(outfile).href)
  expect(await run(server.url, JSON.parse(made.stdout).api_key)).toEqual({
    rows: 2,
    type: 'number',
    code: 'not_found',
    thrown: 404,
    name: 'h',
    added: 1,
  })
})
