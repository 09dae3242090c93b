// Converts TypeScript and JSON when Node imports them.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'

export async function load(url, context, nextLoad) {
  const [address] = url.split('?')
  const [, type] = /^file:.*\.(ts|json)$/.exec(address) ?? []
  if (!type || context.importAttributes.type === 'json') return nextLoad(url, context)
  const sourcefile = fileURLToPath(address)
  const { code } = await transform(await readFile(sourcefile, 'utf8'), {
    loader: type,
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    sourcefile,
  })
  return { format: 'module', source: code, shortCircuit: true }
}
