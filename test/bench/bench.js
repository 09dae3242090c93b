// Benchmarks. Gates nothing, except with --nightly.
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'

const USAGE = `npm run bench [-- GROUP …]              both sides of each row in one run, A B A B, medians
npm run bench -- --against REF [ROW …]  compares the work tree with a commit; --json FILE writes the result
npm run bench -- --against REF --bisect ROW  finds the first commit since REF at which a row is slower
npm run bench -- --nightly HISTORY [ROW …]  compares with the last night and with the best of 30 days; exits with 1 if slower`
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    against: { type: 'string' },
    bisect: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
    json: { type: 'string' },
    nightly: { type: 'string' },
  },
})
if (values.help) {
  console.log(USAGE)
  process.exit()
}
const root = fileURLToPath(new URL('../..', import.meta.url))
const place = `${root}.bench`
mkdirSync(place, { recursive: true })
await build({
  entryPoints: ['rows', 'duckdb', 'compare', 'nightly'].map((name) => `${root}test/bench/${name}.ts`),
  outdir: place,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  logLevel: 'warning',
})
if (values.nightly) {
  const { compareNight } = await import(`${place}/nightly.mjs`)
  process.exitCode = (await compareNight(root, place, values.nightly, positionals)) ? 0 : 1
} else if (values.against) {
  const compare = await import(`${place}/compare.mjs`)
  if (values.bisect) {
    const found = await compare.findSlowerCommit(root, place, values.bisect, values.against)
    console.log(found ?? `${values.bisect} is not slower than at ${values.against}`)
  } else {
    const builds = [compare.buildCommit(root, place, values.against), compare.buildWorkTree(root)]
    compare.printHeader()
    const results = await compare.compareBuilds(builds, place, positionals)
    if (values.json) writeFileSync(values.json, `${JSON.stringify(results)}\n`)
  }
} else {
  const { bench } = await import(`${place}/rows.mjs`)
  await bench(root, place, positionals)
}
