// Converts TypeScript and JSON when Node imports them. Processes of a run, and later runs, share what is converted.
import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transform, version } from 'esbuild'

const cache = fileURLToPath(new URL('../../node_modules/.cache/gridline-tests/', import.meta.url))
const ready = mkdir(cache, { recursive: true })

export async function load(url, context, nextLoad) {
  const [address] = url.split('?')
  const [, type] = /^file:.*\.(ts|json)$/.exec(address) ?? []
  if (!type || context.importAttributes.type === 'json') return nextLoad(url, context)
  const sourcefile = fileURLToPath(address)
  const text = await readFile(sourcefile, 'utf8')
  const hash = createHash('sha256').update(`${version}\n${sourcefile}\n${text}`).digest('hex')
  const file = join(cache, `${hash.slice(0, 32)}.js`)
  const source = await readFile(file, 'utf8').catch(() => convert(text, type, sourcefile, file))
  return { format: 'module', source, shortCircuit: true }
}

async function convert(text, loader, sourcefile, file) {
  const { code } = await transform(text, {
    loader,
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    sourcefile,
  })
  await ready
  const part = `${file}.${process.pid}-${Math.random().toString(36).slice(2)}`
  await writeFile(part, code)
  await rename(part, file)
  return code
}
