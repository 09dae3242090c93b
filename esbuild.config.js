import { rmSync } from 'node:fs'
import { build } from 'esbuild'

// One entry, a chunk per command: start-up loads what the command needs and no more.
rmSync('dist', { recursive: true, force: true })
await build({
  entryPoints: { main: 'src/cli/main.ts', service: 'src/service/index.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minify: true,
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
})
