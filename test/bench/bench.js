// npm run bench [-- NAME …]: both sides of each row in one run, A B A B, medians. Gates nothing.
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))
const place = `${root}.bench`
mkdirSync(place, { recursive: true })
await build({
  entryPoints: [`${root}test/bench/rows.ts`, `${root}test/bench/duckdb.ts`],
  outdir: place,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  logLevel: 'warning',
})
const { bench } = await import(`${place}/rows.mjs`)
await bench(root, place, process.argv.slice(2))
