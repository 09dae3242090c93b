// npm run docs: writes docs/cli.md, docs/json.md and the man pages from the table of commands.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const place = `${root}node_modules/.cache/gridline-docs`
mkdirSync(place, { recursive: true })
await build({
  stdin: {
    contents: [
      "export { commands } from './src/cli/run/registry.ts'",
      "export { generateCliReference } from './src/cli/help/reference.ts'",
      "export { generateJsonReference } from './src/cli/help/json.ts'",
      "export { generateManPages } from './src/cli/help/man.ts'",
      "export { version } from './src/contract/version.ts'",
    ].join('\n'),
    resolveDir: root,
  },
  outdir: place,
  entryNames: 'all',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  packages: 'external',
})
const { commands, generateCliReference, generateJsonReference, generateManPages, version } = await import(
  pathToFileURL(`${place}/all.js`).href
)
writeFileSync(`${root}docs/cli.md`, await generateCliReference(commands))
writeFileSync(`${root}docs/json.md`, await generateJsonReference(commands))
mkdirSync(`${root}docs/man`, { recursive: true })
for (const [file, page] of Object.entries(await generateManPages(commands, version)))
  writeFileSync(`${root}docs/man/${file}`, page)
rmSync(place, { recursive: true })
