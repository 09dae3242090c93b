// npm run bench [-- NAME …]: both sides of each row in one run, A B A B, medians. Gates nothing.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))
const place = `${root}.bench`
mkdirSync(place, { recursive: true })
// What only the benchmark needs is installed by it.
if (!existsSync(`${place}/node_modules/@duckdb/node-api`)) {
  writeFileSync(`${place}/package.json`, '{"private":true,"type":"module"}\n')
  spawnSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', '@duckdb/node-api@latest'], {
    cwd: place,
    stdio: ['ignore', 2, 2],
  })
}
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
