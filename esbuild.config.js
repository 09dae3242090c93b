import { rmSync } from 'node:fs'
import { build, context } from 'esbuild'

// One entry, a chunk per command: start-up loads what the command needs and no more.
rmSync('dist', { recursive: true, force: true })
const options = {
  entryPoints: { main: 'src/cli/main.ts', service: 'src/service/index.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minify: true,
  // Stack traces name src/…ts: bin/gridline.js has Node read the maps where it pays.
  sourcemap: true,
  sourcesContent: false,
  legalComments: 'linked',
  // Binaries, and what CommonJS packages look up at run time.
  external: [
    '@photostructure/sqlite',
    'pg',
    'pg-native',
    'jq-wasm',
    'conf',
    '@fastify/busboy',
    'nodemailer',
    'saxes',
    'tar-stream',
    'yauzl',
  ],
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
}

if (process.argv.includes('--watch')) {
  const watched = await context({ ...options, logLevel: 'info' })
  await watched.watch()
} else await build(options)
