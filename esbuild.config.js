import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import asc from 'assemblyscript/asc'
import { build, context } from 'esbuild'

// One entry, a chunk per command: start-up loads what the command needs and no more.
rmSync('dist', { recursive: true, force: true })
const options = {
  entryPoints: {
    main: 'src/cli/main.ts',
    service: 'src/service/index.ts',
    'draw-process': 'src/draw/process.ts',
  },
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
    'puppeteer-core',
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

// Scripts of the pages. They are served as they are, under a policy without inline scripts.
const pages = {
  entryPoints: {
    draw: 'src/browser/draw.ts',
    chart: 'src/browser/chart.ts',
    page: 'src/browser/page.ts',
    newchart: 'src/browser/newchart.ts',
    preview: 'src/browser/preview.ts',
  },
  outdir: 'dist/assets',
  bundle: true,
  format: 'iife',
  platform: 'browser',
  target: 'es2021',
  minify: true,
  logLevel: 'warning',
}

mkdirSync('dist/assets', { recursive: true })
copyFileSync('node_modules/plotly.js/dist/plotly-strict.min.js', 'dist/assets/plotly.js')
writeFileSync('dist/assets/plotly-geo.js', geoAssets())
copyFileSync('src/browser/favicon.svg', 'dist/assets/favicon.svg')
await kernel()

/** Compiles the kernel of the CSV reader to WebAssembly. */
async function kernel() {
  const source = 'src/ingest/kernel/rows.as.ts'
  const flags =
    '--runtime stub --enable simd -O3 --noAssert --importMemory --noExportMemory --initialMemory 1'
  const { error, stderr } = await asc.main([source, '--outFile', 'dist/rows.wasm', ...flags.split(' ')])
  if (error) throw new Error(`${source}: ${stderr}`)
}

/**
 * The outlines of countries, which plotly.js would fetch from another host. The file in the package assigns them
 * to a name that plotly.js does not read.
 */
function geoAssets() {
  const window = {}
  const file = readFileSync('node_modules/plotly.js/dist/plotly-geo-assets.js', 'utf8')
  new Function('window', 'self', 'module', file)(window, window, undefined)
  const { topojson } = window.Plotly ?? window.PlotlyGeoAssets
  const text = JSON.stringify(topojson)
  return `window.PlotlyGeoAssets={topojson:Object.assign((window.PlotlyGeoAssets||{}).topojson||{},JSON.parse(${JSON.stringify(text)}))};\n`
}

if (process.argv.includes('--watch')) {
  for (const one of [options, pages]) {
    const watched = await context({ ...one, logLevel: 'info' })
    await watched.watch()
  }
} else await Promise.all([build(options), build(pages)])
