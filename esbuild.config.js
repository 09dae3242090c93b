import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, resolve } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { decode, encode } from '@jridgewell/sourcemap-codec'
import { build, context, transform } from 'esbuild'

/** Outputs of slow steps that depend on few files, for the next build. */
const KEPT_OUTPUTS = 'node_modules/.cache/gridline'
const usedOutputs = new Set()
const DAY_MS = 24 * 3600 * 1000

rmSync('dist', { recursive: true, force: true })
const shared = {
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  target: 'node20',
  minify: true,
  // Stack traces name src/…ts: bin/gridline.js has Node read the maps where it pays.
  sourcemap: true,
  sourcesContent: false,
  legalComments: 'linked',
  // Binaries that only some systems have.
  external: ['pg-native', '@napi-rs/keyring', 'bare-*'],
  logLevel: 'warning',
}

/** commander loads this module at once, for programs of other files, which there are none of. */
const lazyChildProcess = {
  name: 'lazy-child-process',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      importer.includes('/commander/') ? { path: 'child_process', namespace: 'lazy' } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'lazy' }, () => ({
      contents:
        "exports.spawn = (...given) => process.getBuiltinModule('node:child_process').spawn(...given)",
    }))
  },
}

/** Modules of Kysely that every command would load: for views, conditions of indexes, `merge`, and other schemas. */
const UNUSED_KYSELY =
  /\/kysely\/dist\/esm\/(plugin\/(with-schema|immediate-value)\/.*|query-builder\/merge-query-builder|schema\/create-view-builder)\.js$/

/** Leaves them out, since the store does not use them: their classes are undefined. */
const withoutUnusedKysely = {
  name: 'without-unused-kysely',
  setup({ onLoad }) {
    onLoad({ filter: UNUSED_KYSELY }, ({ path }) => ({
      contents: readFileSync(path, 'utf8')
        .match(/^export (?:class|function) \w+/gm)
        .map((head) => `export const ${head.split(' ')[2]} = undefined`)
        .join('\n'),
    }))
  },
}

/** Libraries that few commands need are files of their own, which the others need not read. */
const vendorFiles = {
  name: 'vendor-files',
  setup({ onResolve }) {
    onResolve({ filter: /\/vendor\/\w+\.ts$/ }, ({ path, kind }) =>
      kind === 'entry-point'
        ? undefined
        : { path: `./vendor/${/(\w+)\.ts$/.exec(path)[1]}.cjs`, external: true },
    )
  },
}

/** The schema of plotly.js without its descriptions, which are most of it. */
const shortSchema = {
  name: 'short-schema',
  setup({ onLoad }) {
    const dropped = new Set([
      'description',
      'role',
      'editType',
      'impliedEdits',
      'dflt',
      'values',
      'flags',
      'extras',
    ])
    onLoad({ filter: /plot-schema\.json$/ }, ({ path }) => ({
      contents: JSON.stringify(JSON.parse(readFileSync(path, 'utf8')), (key, value) =>
        dropped.has(key) && typeof value !== 'object' ? undefined : value,
      ),
      loader: 'json',
    }))
  },
}

/** Of package.json, commands read the version only. */
const shortManifest = {
  name: 'short-manifest',
  setup({ onLoad }) {
    const manifest = resolve('package.json')
    onLoad({ filter: /package\.json$/ }, ({ path }) => {
      if (path !== manifest) return undefined
      const { version } = JSON.parse(readFileSync(path, 'utf8'))
      return { contents: JSON.stringify({ version }), loader: 'json' }
    })
  },
}

/**
 * bin/code-cache.js reads the files as ASCII, which is faster. esbuild writes strings that way, but not patterns: other
 * characters of the sources become escapes, which mean the same in both.
 */
const asciiSources = {
  name: 'ascii-sources',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const escaped = (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`
      const contents = readFileSync(path, 'utf8').replace(/[^\0-\x7f]/g, escaped)
      return { contents, loader: 'ts' }
    })
  },
}

/** The tables of iconv-lite for encodings of Asia, which Node has itself: only its DOS code pages are used. */
const withoutAsianTables = {
  name: 'without-asian-tables',
  setup({ onLoad }) {
    onLoad({ filter: /iconv-lite\/encodings\/tables\/.*\.json$/ }, () => ({ contents: '[]', loader: 'json' }))
  },
}

/** Defines `__url` in CommonJS, where there is no `import.meta.url`. */
const URL_BANNER = "const __url=require('node:url').pathToFileURL(__filename).href;"

// CommonJS files for the command line, which bin/gridline.js loads with a code cache.
const commonJs = {
  ...shared,
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  // A script with a code cache has no loader of its own: packages are required.
  supported: { 'dynamic-import': false },
  plugins: [
    asciiSources,
    lazyChildProcess,
    withoutUnusedKysely,
    vendorFiles,
    shortSchema,
    shortManifest,
    withoutAsianTables,
  ],
  define: { 'import.meta.url': '__url' },
  banner: { js: URL_BANNER },
}

// Libraries that few commands need.
const vendor = {
  ...commonJs,
  entryPoints: Object.fromEntries(
    readdirSync('src/vendor').map((file) => [`vendor/${file.replace('.ts', '')}`, `src/vendor/${file}`]),
  ),
}

// The help of the program alone, which scripts and people call often. It loads no command.
const help = {
  ...commonJs,
  entryPoints: { help: 'src/cli/run/root-help.ts' },
  external: [...shared.external, '../commands/*'],
}

/**
 * Files of the command line besides `gridline.cjs`, which has what every command needs, and the modules with
 * which each begins. All other chunks are files of their own: one file for each would take longer to open than
 * to read.
 */
const PACKS = {
  'gridline.cjs': ['cli/run/main.ts', 'cli/run/program.ts', 'cli/core/print.ts', 'cli/commands/ls.ts'],
  'cli-upload.cjs': ['cli/commands/upload.ts', 'cli/core/ci.ts'],
  // Without a server.
  'cli-local.cjs': [
    ...['service/index.ts', 'service/store/engines/sqlite.ts', 'service/operations/folders.ts'],
  ],
  'cli-files.cjs': ['cli/commands/show.ts', 'service/operations/files.ts'],
  'cli-local-upload.cjs': ['service/operations/grids.upload.ts'],
  'cli-rows.cjs': [
    ...['cli/commands/append.ts', 'cli/commands/cat.ts', 'service/operations/rows.ts'],
    ...['service/operations/grids.content.ts', 'service/grids/change/append/queue.ts'],
  ],
}

/**
 * Returns the file of each chunk that is in one of `PACKS`. Chunks of both the second and the third, which are used
 * without each other, are in the first. `outputs`: of esbuild's metafile.
 */
function assignPacks(outputs) {
  const reached = Object.entries(PACKS).map(([pack, entries]) => {
    const paths = new Set()
    const add = (path) => {
      if (paths.has(path) || !outputs[path]) return
      paths.add(path)
      for (const { path: imported, kind } of outputs[path].imports)
        if (kind === 'import-statement') add(imported)
    }
    for (const entry of entries) {
      const path = Object.keys(outputs).find((output) => outputs[output].entryPoint === `src/${entry}`)
      if (!path) throw new Error(`PACKS: nothing imports ${entry} dynamically`)
      add(path)
    }
    return [pack, paths]
  })
  const [[main], [, sent], [, local]] = reached
  const both = [...sent].filter((path) => local.has(path))
  const packs = {}
  for (const [pack, paths] of [[main, both], ...reached])
    for (const path of paths) packs[basename(path)] ??= pack
  return packs
}

/** Writes chunks, which are ES modules, as functions of one CommonJS file, by name. */
async function writePack(file, chunks, first) {
  let code = `module.exports={${first}`
  const map = { version: 3, sources: [], names: [], mappings: [] }
  for (const { path, text } of chunks) {
    const converted = await transform(bindImports(text), {
      format: 'cjs',
      minify: true,
      platform: 'node',
      target: shared.target,
      supported: commonJs.supported,
      sourcemap: 'external',
      sourcefile: path,
      sourcesContent: false,
    })
    code += `\n${JSON.stringify(basename(path))}(exports,require,module,__filename,__packRequire,__packModule){${text.includes('__url') ? URL_BANNER : ''}\n`
    addMap(map, JSON.parse(converted.map), code.split('\n').length - 1)
    code += `${converted.code}},`
  }
  writeFileSync(`dist/${file}`, `${code}\n}\n//# sourceMappingURL=${file}.map\n`)
  writeFileSync(`dist/${file}.map`, JSON.stringify({ ...map, mappings: encode(map.mappings) }))
}

/**
 * Makes imports between chunks constants, and exports plain values. esbuild makes them properties with getters,
 * which a loop over values would call for each one. Chunks never import each other in a circle: one that is
 * imported has more entry points than its importer. No module declares `__packRequire` and `__packModule`.
 */
function bindImports(text) {
  const bound = text.replace(
    /^import \{([^}]*)\} from ("\.\/cli-\w+\.cjs");$/gm,
    (_, list, file) => `const {${list.replace(/([\w$]+) as ([\w$]+)/g, '$1: $2')}} = __packRequire(${file});`,
  )
  // A package.
  if (/^export default /m.test(text)) return bound
  const list = /^export \{([^}]*)\};?$/m.exec(text)?.[1] ?? ''
  if (assignsTo(list, text)) throw new Error('a chunk assigns to what it exports')
  return `${bound.replace(/^export \{[^}]*\};?$/m, '')}
__packModule.exports = Object.defineProperty({${list.replace(/([\w$]+) as ([\w$]+)/g, '$2: $1')}}, '__esModule', { value: true });
`
}

/**
 * Returns whether a chunk seems to assign to a name of its list of exports after the declaration, so that
 * importers would have to see the change.
 */
function assignsTo(list, text) {
  const names = list.split(',').map((item) => item.trim().split(' as ')[0])
  const escaped = names.filter((name) => name !== '').map((name) => name.replaceAll('$', '\\$'))
  if (escaped.length === 0) return false
  const assignment = String.raw`\s*(?:=(?![=>])|\+\+|--|(?:[-+*/%&|^]|\*\*|<<|>>>?|\?\?|\|\||&&)=)`
  const declared = String.raw`(?<!\b(?:var|let|const) )(?<![\w$.])`
  return new RegExp(
    `${declared}(?:${escaped.join('|')})(?![\\w$])${assignment}|(?:\\+\\+|--)(?:${escaped.join('|')})(?![\\w$])`,
  ).test(text)
}

/** Adds the source map of a part that begins at a line of the file. Node does not read maps with sections. */
function addMap(map, { sources, mappings }, line) {
  const firstSource = map.sources.length
  map.sources.push(...sources)
  while (map.mappings.length < line) map.mappings.push([])
  for (const segments of decode(mappings))
    map.mappings.push(
      segments.map(([column, source, ...rest]) =>
        source === undefined ? [column] : [column, source + firstSource, ...rest.slice(0, 2)],
      ),
    )
}

/** Writes the chunks of `command` to their files. */
const packChunks = {
  name: 'pack-chunks',
  setup({ onEnd }) {
    onEnd(async ({ outputFiles, metafile }) => {
      const packs = assignPacks(metafile.outputs)
      const files = new Map()
      for (const chunk of outputFiles) {
        const name = basename(chunk.path)
        const file = packs[name] ?? name
        files.set(file, [...(files.get(file) ?? []), chunk])
      }
      for (const [file, chunks] of files)
        await writePack(file, chunks, file === 'gridline.cjs' ? `packs:${JSON.stringify(packs)},` : '')
    })
  },
}

// The command line, in chunks, so that each command reads only what it needs.
const command = {
  ...shared,
  entryPoints: { gridline: 'src/cli/run/main.ts' },
  outExtension: { '.js': '.cjs' },
  chunkNames: 'cli-[hash]',
  format: 'esm',
  splitting: true,
  sourcemap: 'inline',
  // Names are short only after exports are looked at.
  minify: false,
  write: false,
  plugins: [...commonJs.plugins, packChunks],
  metafile: true,
  define: commonJs.define,
}

/** The binaries of DuckDB are installed apart; a module of ours finds them. */
const duckDbBindings = {
  name: 'duckdb-bindings',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^@duckdb\/node-bindings$/ }, () =>
      resolve('./src/sql/bindings.ts', { kind: 'import-statement', resolveDir: '.' }),
    )
  },
}

/** Libraries that drop U+FEFF at the begin of texts, but it is part of them: so it is in CSV and JSON. */
const TEXT_DECODERS =
  /\/(?:hyparquet\/src\/(?:convert|variant)|flechette\/.*|@duckdb\/node-api\/lib\/vectors\/dataAccessors)\.[cm]?js$/

const keepByteOrderMarks = {
  name: 'keep-byte-order-marks',
  setup({ onLoad, onEnd }) {
    const changed = []
    onLoad({ filter: TEXT_DECODERS }, ({ path }) => {
      const original = readFileSync(path, 'utf8')
      const contents = original.replace(
        /new TextDecoder\((?:['"]utf-8['"])?\)/g,
        "new TextDecoder('utf-8', { ignoreBOM: true })",
      )
      if (contents !== original) changed.push(basename(path))
      return { contents }
    })
    onEnd(() => {
      for (const name of ['convert', 'flechette', 'dataAccessors'])
        if (!changed.some((file) => file.startsWith(name)))
          throw new Error(`the decoder of texts in ${name} was not found`)
    })
  },
}

// Processes and threads beside the command line.
const processes = {
  ...shared,
  entryPoints: {
    'draw-process': 'src/draw/process.ts',
    'columnar-worker': 'src/ingest/columnar/decoder-process.ts',
    'evaluation-worker': 'src/service/plots/evaluation-worker.ts',
    'query-process': 'src/sql/query-process.ts',
  },
  splitting: true,
  format: 'esm',
  plugins: [vendorFiles, duckDbBindings, keepByteOrderMarks],
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
}

/** Names of countries are large, and plotly.js has them: what a map does not know is said where it is drawn. */
const withoutCountries = {
  name: 'without-countries',
  setup({ onLoad }) {
    onLoad({ filter: /\/vendor\/countries\.ts$/ }, () => ({
      contents: 'export const findCountryCode = (place) => place',
    }))
  },
}

// Scripts of the pages. They are served as they are, under a policy without inline scripts.
const pages = {
  entryPoints: {
    draw: 'src/browser/image-page.ts',
    chart: 'src/browser/chart.ts',
    board: 'src/browser/board.ts',
    'board-charts': 'src/browser/board-charts.ts',
    more: 'src/browser/additional-code.ts',
    page: 'src/browser/file-page.ts',
    newchart: 'src/browser/save-chart.ts',
    account: 'src/browser/account.ts',
    add: 'src/browser/add/index.ts',
    files: 'src/browser/files/index.ts',
    history: 'src/browser/history.ts',
    rows: 'src/browser/rows.ts',
    'pick-rows': 'src/browser/pick-rows.ts',
    query: 'src/browser/query.ts',
    summary: 'src/browser/summary.ts',
    share: 'src/browser/share.ts',
    edit: 'src/browser/edit/index.ts',
    make: 'src/browser/make-chart.ts',
    embed: 'src/browser/embed.ts',
    style: 'src/browser/style.css',
    'sort-table': 'src/browser/sort-table.ts',
    'site-search': 'src/browser/site-search.ts',
  },
  outdir: 'dist/assets',
  bundle: true,
  format: 'iife',
  platform: 'browser',
  target: 'es2021',
  minify: true,
  logLevel: 'warning',
  plugins: [withoutNode(), withoutCountries],
  // Long work of the service yields to other requests with it, which browsers do not have.
  define: { setImmediate: 'setTimeout', PAGE_API: JSON.stringify(await pageApi()) },
}

/** Method and path of each operation that pages call, by name: scripts need no more of the contract. */
async function pageApi() {
  const { outputFiles } = await build({
    stdin: {
      contents:
        "export { operations } from './operations/index.ts'; export { pageOperations } from './web/page-operations.ts'",
      resolveDir: 'src/contract',
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  })
  const code = Buffer.from(outputFiles[0].contents).toString('base64')
  const { operations, pageOperations } = await import(`data:text/javascript;base64,${code}`)
  const called = Object.keys(pageOperations).filter((name) => Array.isArray(pageOperations[name]))
  return Object.fromEntries(called.map((name) => [name, [operations[name].method, operations[name].path]]))
}

/** What a page uses of Node: nothing. A module that is loaded for another of its functions finds this in its place. */
function withoutNode() {
  return {
    name: 'without-node',
    setup(build) {
      build.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: 'node' }))
      build.onLoad({ filter: /.*/, namespace: 'node' }, () => ({
        contents: 'export const isUtf8 = undefined',
      }))
    },
  }
}

// SQLite for Node before 22.13, which has none.
mkdirSync('dist/sqlite', { recursive: true })
for (const system of ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64'])
  copyFileSync(
    `node_modules/@photostructure/sqlite/prebuilds/${system}/@photostructure+sqlite.glibc.node`,
    `dist/sqlite/${system}.node`,
  )

mkdirSync('dist/assets', { recursive: true })
copyFileSync('node_modules/plotly.js/dist/plotly-strict.min.js', 'dist/assets/plotly.js')
writeFileSync('dist/assets/plotly-geo.js', geoAssets())
writeFileSync('dist/assets/plotly-bundles.json', JSON.stringify(smallerBundles()))
copyFileSync('src/browser/favicon.svg', 'dist/assets/favicon.svg')
copyFileSync('src/browser/missing.png', 'dist/assets/missing.png')

/** Copies the builds of plotly.js with fewer trace types. Returns name and types of each, smallest first. */
function smallerBundles() {
  const folder = 'node_modules/plotly.js'
  const bundles = ['basic', 'finance', 'geo', 'cartesian'].map((name) => {
    const index = readFileSync(`${folder}/lib/index-${name}.js`, 'utf8')
    const types = [...index.matchAll(/require\('\.\/(\w+)'\)/g)].map(([, type]) => type)
    copyFileSync(`${folder}/dist/plotly-${name}.min.js`, `dist/assets/bundle-${name}.js`)
    return [name, ['scatter', ...types]]
  })
  const sizeOf = ([name]) => statSync(`dist/assets/bundle-${name}.js`).size
  return bundles.sort((a, b) => sizeOf(a) - sizeOf(b))
}

/** Compiles the kernels, which read files and columns, to WebAssembly. */
async function kernels() {
  const flags =
    '--runtime stub --enable simd -O3 --noAssert --importMemory --noExportMemory --initialMemory 1'
  const files = readdirSync('src', { recursive: true }).filter((file) => file.endsWith('.as.ts'))
  const texts = files.sort().map((file) => readFileSync(`src/${file}`, 'utf8'))
  const { version } = JSON.parse(readFileSync('node_modules/assemblyscript/package.json', 'utf8'))
  const sources = [
    'src/ingest/kernel/rows.as.ts',
    'src/ingest/kernel/records.as.ts',
    'src/ingest/kernel/columns.as.ts',
    'src/ingest/kernel/plain.as.ts',
    'src/service/grids/column/kernel/values.as.ts',
    'src/service/grids/column/kernel/write-rows.as.ts',
    'src/service/grids/column/kernel/cells.as.ts',
    'src/service/grids/column/kernel/pages.as.ts',
  ]
  for (const source of sources) {
    const target = `dist/${/([\w-]+)\.as\.ts$/.exec(source)[1]}.wasm`
    await keepOutput(target, [source, flags, version, ...texts], async () => {
      const { default: asc } = await import('assemblyscript/asc')
      const { error, stderr } = await asc.main([source, '--outFile', target, ...flags.split(' ')])
      if (error) throw new Error(`${source}: ${stderr}`)
    })
  }
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
  await kernels()
  for (const one of [command, vendor, help, processes, pages]) {
    const watched = await context({ ...one, logLevel: 'info' })
    await watched.watch()
  }
} else {
  const builds = [command, vendor, help, processes, pages].map((one) => build({ ...one, metafile: true }))
  const [results] = await Promise.all([Promise.all(builds), kernels()])
  const inputs = results.flatMap(({ metafile }) => Object.keys(metafile.inputs))
  for (const [name, source] of Object.entries(pages.entryPoints))
    await compressAsset(`dist/assets/${name}${source.endsWith('.css') ? '.css' : '.js'}`)
  writeFileSync('dist/THIRD-PARTY-NOTICES.txt', notices(inputs))
  stamp('dist/gridline.cjs')
  stamp('dist/help.cjs')
  writeEmptyDatabase('dist/empty.db')
  removeOtherOutputs()
}

/** Writes a compressed copy beside a script of the pages: compressing this well takes too long for a server. */
async function compressAsset(path) {
  const bytes = readFileSync(path)
  if (bytes.length <= 1000) return
  await keepOutput(`${path}.br`, [process.versions.brotli, bytes], () =>
    writeFileSync(`${path}.br`, brotliCompressSync(bytes)),
  )
}

/** Copies a file from the build before if that had the same inputs; makes and keeps it otherwise. */
async function keepOutput(target, inputs, make) {
  const hash = createHash('sha256').update(target)
  for (const input of inputs) hash.update('\0').update(input)
  const kept = `${KEPT_OUTPUTS}/${hash.digest('hex')}`
  if (existsSync(kept)) copyFileSync(kept, target)
  else {
    await make()
    try {
      mkdirSync(KEPT_OUTPUTS, { recursive: true })
      // Builds may run at the same time.
      copyFileSync(target, `${kept}.${process.pid}`)
      renameSync(`${kept}.${process.pid}`, kept)
    } catch {
      // The packages are read-only: the next build makes it again.
    }
  }
  usedOutputs.add(basename(kept))
}

/** Removes kept files that no build has made or used for a day. */
function removeOtherOutputs() {
  if (!existsSync(KEPT_OUTPUTS)) return
  for (const name of readdirSync(KEPT_OUTPUTS)) {
    const file = `${KEPT_OUTPUTS}/${name}`
    const { mtimeMs = Date.now() } = statSync(file, { throwIfNoEntry: false }) ?? {}
    if (!usedOutputs.has(name) && mtimeMs < Date.now() - DAY_MS) rmSync(file, { force: true })
  }
}

/** Writes a database with all tables, which new databases of the command line are copies of. */
function writeEmptyDatabase(file) {
  const { status, stderr } = spawnSync(
    process.execPath,
    ['bin/gridline.js', 'admin', 'migrate', '--database', `sqlite:${file}`],
    // A flag of Node: no cache of compiled code is written, since it does not belong to the build.
    { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '--no-warnings' } },
  )
  if (status !== 0) throw new Error(`${file}: ${stderr}`)
  const { DatabaseSync } = createRequire(import.meta.url)('@photostructure/sqlite')
  const database = new DatabaseSync(file)
  // Each database makes a secret of its own when it first needs one: that of a copy would be known to all. The
  // sweep of a copy is due at once, unless opening it sets another time.
  database.exec('DELETE FROM secrets; UPDATE jobs SET due = 0; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  // All users of the machine copy it.
  chmodSync(file, 0o644)
}

/** The licences of all packages of which a part is in the build: copies of them must come with these texts. */
function notices(inputs) {
  const folders = new Set([
    'node_modules/plotly.js',
    'node_modules/assemblyscript',
    'node_modules/@photostructure/sqlite',
  ])
  for (const input of inputs) {
    const found = /^(?:lazy:)?(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)
    if (found) folders.add(found[1])
  }
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license, repository } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
    const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    const url = typeof repository === 'string' ? repository : repository?.url
    const body = files.map((file) => readFileSync(`${folder}/${file}`, 'utf8').trim()).join('\n\n')
    const known = body || licenceInReadme(folder) || licenceOfRepository(name)
    if (!known)
      throw new Error(`${name} has no text of its licence: put that of its repository in docs/licences`)
    return `${name} ${version} (${license})${url ? `\n${url}` : ''}\n\n${known}\n`
  })
  const line = `${'-'.repeat(78)}\n`
  return `Gridline contains parts of these packages.\n\n${line}${texts.join(`\n${line}`)}`
}

function licenceInReadme(folder) {
  const readme = readdirSync(folder).find((file) => /^readme/i.test(file))
  const [, text] =
    (readme && /\n#+ licen[cs]e\s+([\s\S]*)/i.exec(readFileSync(`${folder}/${readme}`, 'utf8'))) || []
  return text && /permission is hereby granted/i.test(text) ? text.trim() : undefined
}

/** Returns the text of a licence that only the repository of a package has. */
function licenceOfRepository(name) {
  const file = `docs/licences/${name}.txt`
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

/**
 * Adds a hash of the file, which has those of its chunks, and of the libraries to it: bin/code-cache.js finds compiled
 * code by it.
 */
function stamp(file) {
  const built = readFileSync(file)
  if (built.some((byte) => byte > 0x7f)) throw new Error(`${file} must be ASCII: see asciiSources`)
  const hash = createHash('sha256').update(built)
  for (const name of Object.keys(vendor.entryPoints)) hash.update(readFileSync(`dist/${name}.cjs`))
  appendFileSync(file, `// build ${hash.digest('hex').slice(0, 16)}\n`)
}
