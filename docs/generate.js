// npm run docs | npm run completions: writes docs/cli.md and completions/ from the table of commands.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const place = `${root}node_modules/.cache/gridline-docs`
mkdirSync(place, { recursive: true })
await build({
  stdin: {
    contents: [
      "export { commands } from './src/cli/registry.ts'",
      "export { cliReference } from './src/cli/reference.ts'",
      "export { jsonReference } from './src/cli/help/json.ts'",
      "export { manPages } from './src/cli/help/man.ts'",
      "export { version } from './src/contract/version.ts'",
      "export { completionScript } from './src/cli/completion/script.ts'",
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
const { commands, cliReference, jsonReference, manPages, version, completionScript } = await import(
  pathToFileURL(`${place}/all.js`).href
)
const files = { bash: 'gridline.bash', zsh: '_gridline', fish: 'gridline.fish', powershell: 'gridline.ps1' }
if (process.argv[2] !== 'completions') {
  writeFileSync(`${root}docs/cli.md`, await cliReference(commands))
  writeFileSync(`${root}docs/json.md`, await jsonReference(commands))
  mkdirSync(`${root}docs/man`, { recursive: true })
  for (const [file, page] of Object.entries(await manPages(commands, version)))
    writeFileSync(`${root}docs/man/${file}`, page)
}
if (process.argv[2] !== 'docs')
  for (const [shell, file] of Object.entries(files))
    writeFileSync(`${root}completions/${file}`, completionScript(shell))
rmSync(place, { recursive: true })
