// Import order, the contract, and generated files.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readCompletionScript, SHELLS } from '../../src/cli/completion/script.ts'
import { generateJsonReference } from '../../src/cli/help/json.ts'
import { generateManPages } from '../../src/cli/help/man.ts'
import { generateCliReference } from '../../src/cli/help/reference.ts'
import { commands } from '../../src/cli/run/registry.ts'
import { errorCodes } from '../../src/contract/errors.ts'
import { formatWebUrl, parseFid, parseFidLink } from '../../src/contract/fid.ts'
import { limits } from '../../src/contract/limits.ts'
import { methodsOf, type Operation, operations, routesOf } from '../../src/contract/operations/index.ts'
import { version } from '../../src/contract/version.ts'
import { WasmModule } from '../../src/contract/wasm.ts'
import { type PagePart, pageOperations } from '../../src/contract/web/page-operations.ts'
import { ROLES_BY_ACCESS } from '../../src/service/access/policy.ts'
import { createJobHandlers } from '../../src/service/background/job-kinds.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? sources(path) : path.endsWith('.ts') ? [path] : []
  })
}

interface Import {
  from: string
  to: string
  dynamic: boolean
  typeOnly: boolean
}

/** Returns the imports of a file: files by path from the root, packages by name. */
function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
  const found: Import[] = []
  const pattern =
    /(?:^|\n)(?:import|export)\s+(type\s)?[^'"\n;]*?(?:\{[^}]*\}\s*)?(?:from\s+)?'([^']+)'|import\('([^']+)'\)/g
  for (const [, typeOnly, plain, dynamic] of text.matchAll(pattern)) {
    const target = plain ?? dynamic
    const to = target.startsWith('.') ? relative(root, join(root, dirname(file), target)) : target
    found.push({ from: file, to, dynamic: dynamic !== undefined, typeOnly: typeOnly !== undefined })
  }
  return found
}

const imports = sources('src').flatMap(importsOf)
const layerOf = (path: string): string => path.split('/')[1]

/** Layers, from top to bottom: each may import those below it. MODULES lists the modules of large layers. */
const LAYERS = [
  'cli',
  'service',
  'ingest',
  'client',
  'draw',
  'sql',
  'browser',
  'charts',
  'checks',
  'query',
  'json',
  'contract',
  'vendor',
]
const MODULES: Readonly<Record<string, readonly string[]>> = {
  cli: 'run commands agents upload import export completion help charts files core connect config output'.split(
    ' ',
  ),
  service:
    'index.ts admin.ts background http operations alerts mailings pages boards images plots refreshes derivations queries grids uploads files sharing import accounts core access store tracing'.split(
      ' ',
    ),
  charts: 'evaluate omitted.ts other-texts.ts change create-chart.ts compile normalize figure spec'.split(
    ' ',
  ),
  ingest:
    'index.ts file.ts slices.ts records columnar workbook data-file-name.ts delimited detect archive text values kernel'.split(
      ' ',
    ),
}
/** Modules within modules, in the same way. */
const INNER_MODULES: Readonly<Record<string, readonly string[]>> = {
  'service/grids': 'change alerts checks keys diff input reshape read service.ts column'.split(' '),
  'service/store':
    'upkeep dry-store.ts store.ts sqlite-files.ts migrate.ts migrations aggregates objects engines schema'.split(
      ' ',
    ),
}
/** Imports that are forbidden in spite of the order. */
const APART: [from: string, to: string][] = [
  ['ingest', 'client'],
  ['service', 'client'],
  ['json', 'client'],
  ['client', 'draw'],
  ['ingest', 'draw'],
  ['ingest', 'query'],
  ['client', 'query'],
]

/** Returns groups of two or more nodes that can reach each other (Tarjan). */
function findCycles(nodes: readonly string[], arrows: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const found: string[][] = []
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const visit = (node: string): void => {
    index.set(node, index.size)
    low.set(node, index.get(node)!)
    stack.push(node)
    for (const next of arrows.get(node) ?? []) {
      if (!index.has(next)) visit(next)
      if (stack.includes(next)) low.set(node, Math.min(low.get(node)!, low.get(next)!))
    }
    if (low.get(node) !== index.get(node)) return
    const cycle = stack.splice(stack.indexOf(node))
    if (cycle.length > 1) found.push(cycle)
  }
  for (const node of nodes) if (!index.has(node)) visit(node)
  return found
}

function arrowsBetween(placeOf: (path: string) => string): Map<string, Set<string>> {
  const arrows = new Map<string, Set<string>>()
  for (const { from, to } of imports.filter((one) => one.to.startsWith('src/'))) {
    const [a, b] = [placeOf(from), placeOf(to)]
    if (a !== b) arrows.set(a, (arrows.get(a) ?? new Set()).add(b))
  }
  return arrows
}

describe('imports run downhill', () => {
  it('the import scan finds static and dynamic imports', () => {
    expect(imports.length).toBeGreaterThan(200)
    expect(imports).toContainEqual({
      from: 'src/cli/connect/connect.ts',
      to: 'src/service/index.ts',
      dynamic: true,
      typeOnly: false,
    })
  })

  it('a layer imports only layers below it', () => {
    const inside = imports.filter(({ to }) => to.startsWith('src/'))
    expect([...new Set(inside.flatMap(({ from, to }) => [layerOf(from), layerOf(to)]))].sort()).toEqual(
      [...LAYERS].sort(),
    )
    const wrong = inside.filter((i) => {
      const [from, to] = [layerOf(i.from), layerOf(i.to)]
      return LAYERS.indexOf(to) < LAYERS.indexOf(from) || APART.some(([a, b]) => a === from && b === to)
    })
    expect(wrong).toEqual([])
  })

  const moduleOf = (path: string): string => path.split('/')[2]
  it.each(Object.entries(MODULES))(
    'a module of %s imports only modules below it, including types',
    (layer, modules) => {
      const wrong = imports.filter(
        ({ from, to }) =>
          layerOf(from) === layer &&
          to.startsWith(`src/${layer}/`) &&
          modules.indexOf(moduleOf(to)) < modules.indexOf(moduleOf(from)),
      )
      expect(wrong).toEqual([])
      expect(readdirSync(join(root, 'src', layer)).sort()).toEqual([...modules].sort())
    },
  )

  it.each(Object.entries(INNER_MODULES))(
    'a module of %s imports only modules below it, including types',
    (folder, modules) => {
      const inner = (path: string): string => path.split('/')[3]
      const wrong = imports.filter(
        ({ from, to }) =>
          [from, to].every((path) => path.startsWith(`src/${folder}/`)) &&
          modules.indexOf(inner(to)) < modules.indexOf(inner(from)),
      )
      expect(wrong).toEqual([])
      expect(readdirSync(join(root, 'src', folder)).sort()).toEqual([...modules].sort())
    },
  )

  it('the page about the architecture has the modules in this order', () => {
    const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
    const orders = [...page.matchAll(/`[\w.-]+`(?: → `[\w.-]+`){4,}/g)].map(([order]) =>
      order.replaceAll('`', '').split(' → '),
    )
    for (const modules of [...Object.values(MODULES), INNER_MODULES['service/grids']])
      expect(orders).toContainEqual(modules)
  })

  it('no files import each other in a circle, including types', () => {
    expect(
      findCycles(
        sources('src'),
        arrowsBetween((path) => path),
      ),
    ).toEqual([])
  })

  it.each([2, 3, 4, 5])('no folders import each other in a circle at level %i, including types', (level) => {
    // A file beside folders of a level counts as a module.
    const folder = (path: string): string => {
      const folders = path.split('/').slice(0, -1)
      return folders.length >= level ? folders.slice(0, level).join('/') : path
    }
    const folders = [...new Set(sources('src').map(folder))]
    expect(findCycles(folders, arrowsBetween(folder))).toEqual([])
  })

  it('the command line imports the service only dynamically, through index.ts and admin.ts', () => {
    const wrong = imports.filter(
      (i) =>
        layerOf(i.from) === 'cli' &&
        i.to.startsWith('src/service') &&
        !(/^src\/service\/(index|admin)\.ts$/.test(i.to) && (i.dynamic || i.typeOnly)),
    )
    expect(wrong).toEqual([])
  })

  it('other layers import json, ingest and client only through their index, or ingest/slices.ts', () => {
    const wrong = imports.filter(
      ({ from, to }) =>
        /^src\/(json|ingest|client)\//.test(to) &&
        !/\/index\.ts$|^src\/ingest\/slices\.ts$/.test(to) &&
        // AssemblyScript has no index.
        !(from.endsWith('.as.ts') && /^src\/json\/\w+\.as$/.test(to)) &&
        layerOf(from) !== layerOf(to),
    )
    expect(wrong).toEqual([])
  })

  it('only the store imports a database driver or Kysely', () => {
    const drivers = ['kysely', 'src/vendor/pg.ts', 'node:sqlite', '@photostructure/sqlite']
    const wrong = imports.filter(
      ({ from, to }) => !from.startsWith('src/service/store') && drivers.includes(to),
    )
    expect(wrong).toEqual([])
  })

  it('every export is used by another file', () => {
    const texts = new Map(
      [...sources('src'), ...sources('test')].map((path) => [path, readFileSync(join(root, path), 'utf8')]),
    )
    const words = new Map<string, Set<string>>()
    for (const [path, text] of texts)
      for (const word of new Set(text.match(/\w+/g)))
        words.set(word, (words.get(word) ?? new Set()).add(path))
    // Functions of the kernel are called from WebAssembly, and entry points by the build.
    const entries = /kernel\/rows\.as\.ts$|run\/(main|root-help)\.ts$/
    const unused = sources('src').flatMap((path) =>
      [...texts.get(path)!.matchAll(/^export (?:async )?(?:const|function\*?|class) (\w+)/gm)]
        .filter(([, name]) => !entries.test(path) && words.get(name)!.size === 1)
        .map(([, name]) => `${path}: ${name}`),
    )
    expect(unused).toEqual([])
  })

  it('no directory is named utils, helpers, common or lib', () => {
    expect(sources('src').filter((path) => /\/(utils?|helpers?|common|lib)\//.test(path))).toEqual([])
  })
})

describe('the contract', () => {
  const entries = Object.entries(operations) as [string, Operation][]

  it('each part of the pages calls the operations that the contract says', () => {
    const charts = ['browser/api.ts', 'charts/']
    const SOURCES: Record<PagePart, readonly string[]> = {
      add: ['browser/add/', 'browser/grid-difference.ts'],
      chart: ['browser/make-chart.ts', 'browser/edit/figure-data.ts', ...charts],
      editor: ['browser/edit/', ...charts],
      files: ['browser/files/'],
      share: ['browser/share.ts'],
      history: ['browser/history.ts', 'browser/grid-difference.ts'],
      rows: ['browser/rows.ts', 'browser/cell-history.ts'],
      query: ['browser/query.ts'],
      summary: ['browser/summary.ts'],
      account: ['browser/account.ts'],
      save: ['browser/save-chart.ts'],
    }
    const wrong = Object.entries(SOURCES).flatMap(([part, paths]) => {
      const texts = sources('src')
        .filter((path) => paths.some((one) => path.startsWith(`src/${one}`)))
        .map((path) => readFileSync(join(root, path), 'utf8'))
        .join('')
      return Object.entries(pageOperations).flatMap(([name, parts]) => {
        // After a refusal, each part asks whether the session has ended.
        if (name === 'users.current' && paths.includes('browser/api.ts')) return []
        const isListed = typeof parts !== 'string' && (parts as readonly string[]).includes(part)
        return texts.includes(`'${name}'`) === isListed ? [] : [`${part}: ${name}`]
      })
    })
    expect(wrong).toEqual([])
  })

  it('every operation has a body limit, and a unique method and path', () => {
    const routes = entries.flatMap(([, operation]) =>
      routesOf(operation).flatMap(({ path }) => methodsOf(operation).map((method) => `${method} ${path}`)),
    )
    expect(routes.length).toBeGreaterThan(100)
    expect(routes.filter((route, k) => routes.indexOf(route) !== k)).toEqual([])
    for (const [name, { body, path, access }] of entries) {
      if (body.kind !== 'none') expect(Object.keys(limits), name).toContain(body.limit)
      if (path.includes(':fid')) expect([...Object.keys(ROLES_BY_ACCESS), 'operator'], name).toContain(access)
    }
  })

  it('every limit is checked somewhere', () => {
    const code = sources('src')
      .filter((path) => path !== 'src/contract/limits.ts')
      .map((path) => readFileSync(join(root, path), 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, ''))
      .join('\n')
    const names = new Set(
      [...code.matchAll(/\blimits\.([a-z_]+)|\b([a-z]+(?:_[a-z]+)+)\b/g)].map(([, one, two]) => one ?? two),
    )
    expect(Object.keys(limits).filter((name) => !names.has(name))).toEqual([])
  })

  it('every kind of background job is in docs/operating.md', () => {
    const guide = readFileSync(join(root, 'docs/operating.md'), 'utf8')
    for (const kind of Object.keys(createJobHandlers({} as Parameters<typeof createJobHandlers>[0])))
      expect(guide).toContain(`\`${kind}\``)
  })

  it('API paths are defined only in the contract', () => {
    const elsewhere = sources('src').filter((path) => !path.startsWith('src/contract/'))
    const paths = entries
      .map(([, { path }]) => path)
      .filter((path) => path.split('/').length > 3 && !path.includes(':'))
    for (const file of elsewhere) {
      const code = readFileSync(join(root, file), 'utf8')
        .replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
        .replace(/examples: \[[^\]]*\]/g, '')
      for (const path of paths) expect(code.includes(`'${path}'`), `${file} has ${path}`).toBe(false)
    }
  })

  it('errors that a retry cannot fix are never 429 or 5xx', () => {
    const retried = Object.entries(errorCodes)
      .filter(([, { status }]) => status === 429 || status === 503)
      .map(([code]) => code)
    expect(retried.sort()).toEqual(['overloaded', 'rate_limited', 'unreachable'])
  })

  it('fids and links are parsed and formatted in one form', () => {
    for (const text of ['alice:0', 'alice:-1', 'a.b_c-d:12']) expect(parseFid(text)).toBeDefined()
    for (const text of ['alice', 'alice:', ':1', 'alice:-2', 'alice:01', 'al/ice:1', 'alice:1x', 'a b:1'])
      expect(parseFid(text), text).toBeUndefined()
    const fid = { owner: 'alice', idlocal: 12 }
    expect(formatWebUrl('http://h', fid)).toBe('http://h/~alice/12/')
    for (const link of [
      'http://h/~alice/12/',
      'http://h:80/~alice/12',
      'https://h/p/~alice/12.embed?x=1',
      'http://h/~alice/12.csv',
      'http://h/v2/grids/alice:12/content',
    ]) {
      expect(parseFidLink(link), link).toEqual(fid)
    }
    expect(parseFidLink('http://h/alice')).toBeUndefined()
  })
})

describe('a kernel', () => {
  it('a kernel and its caller agree on the memory layout', () => {
    const constants = (file: string): Map<string, string> =>
      new Map(
        [
          ...readFileSync(join(root, file), 'utf8').matchAll(
            /^(?:export )?const ([A-Z_]+)(?:: i32)? = (.*)$/gm,
          ),
        ].map(([, name, value]): [string, string] => [name, value]),
      )
    const layouts = [
      {
        folder: 'src/ingest/kernel',
        caller: 'index.ts',
        file: 'rows.as.ts',
        some: ['HEADER', 'TEXT', 'STARTS', 'LINES', 'OUT'],
      },
      {
        folder: 'src/ingest/kernel',
        caller: 'records.ts',
        file: 'records.as.ts',
        some: ['PARTS', 'FIRSTS'],
      },
      {
        folder: 'src/ingest/kernel',
        caller: 'columns.ts',
        file: 'columns.as.ts',
        some: ['MAX_ROWS', 'HASHES', 'SIZES', 'MAX_ENDS', 'LIST', 'TEXT'],
      },
      {
        folder: 'src/ingest/kernel',
        caller: 'plain.ts',
        file: 'plain.as.ts',
        some: ['MAX_ROWS', 'LEVELS', 'INDEXES', 'WORD_ENDS', 'WORDS', 'VALUES_BYTES', 'OUT_BYTES'],
      },
      {
        folder: 'src/service/grids/column/kernel',
        caller: 'values.ts',
        file: 'values.as.ts',
        some: ['KNOWN', 'RESULTS', 'STARTS', 'TEXT'],
      },
      {
        folder: 'src/service/grids/column/kernel',
        caller: 'write-rows.ts',
        file: 'write-rows.as.ts',
        some: ['COLUMN_BYTES', 'LIST', 'OUT', 'TEXTS'],
      },
      {
        folder: 'src/service/grids/column/kernel',
        caller: 'cells.ts',
        file: 'cells.as.ts',
        some: ['MAX_VALUES', 'HASHES', 'LIST', 'STARTS', 'ENDS', 'TEXT'],
      },
      {
        folder: 'src/service/grids/column/kernel',
        caller: 'pages.ts',
        file: 'pages.as.ts',
        some: ['LEVELS', 'MAX_ROWS', 'VALUES', 'PAGE_BYTES', 'TEXT', 'SLACK', 'FULL'],
      },
    ]
    for (const { folder, caller, file, some } of layouts) {
      const host = constants(`${folder}/${caller}`)
      const kernel = constants(`${folder}/${file}`)
      // Digits of numbers are compared in both, each with a bound of its own.
      const shared = [...kernel.keys()].filter((name) => host.has(name) && name !== 'MAX_DIGITS')
      expect(shared).toEqual(expect.arrayContaining(some))
      for (const name of shared) expect(`${name} = ${host.get(name)}`).toBe(`${name} = ${kernel.get(name)}`)
    }
  })

  it('the build has a module for each kernel, with all that its caller calls', () => {
    const callers = sources('src').flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8')
      const [, wasm] = /new WasmModule<Exports>\('(.+)'\)/.exec(text) ?? []
      return wasm === undefined ? [] : [{ file, wasm, text }]
    })
    expect(new Set(callers.map(({ wasm }) => wasm)).size).toBe(
      sources('src').filter((file) => /kernel\/.*\.as\.ts$/.test(file)).length,
    )
    for (const { file, wasm, text } of callers) {
      const { exports } = new WasmModule<Record<string, unknown>>(wasm).createInstance(1024 * 1024)!
      const [, members] = /interface Exports[^{]*\{(.*?)\n\}/s.exec(text)!
      const called = [...members.matchAll(/^ {2}(\w+)[(:]/gm)].map(([, name]) => name)
      expect([file, called.filter((name) => !(name in exports))]).toEqual([file, []])
    }
  })
})

describe('completions', () => {
  it.each(SHELLS)('the completion script for %s calls the program', (shell) => {
    const script = readCompletionScript(shell)
    expect(script).toContain('gridline __complete')
    expect(
      readdirSync(join(root, 'completions')).map((file) =>
        readFileSync(join(root, 'completions', file), 'utf8'),
      ),
    ).toContain(script)
  })

  it('every file in completions/ is the generated script of a shell', () => {
    const scripts = SHELLS.map((shell) => readCompletionScript(shell))
    const files = readdirSync(join(root, 'completions')).map((file) =>
      readFileSync(join(root, 'completions', file), 'utf8'),
    )
    expect(files.sort()).toEqual(scripts.sort())
    expect(new Set(scripts).size).toBe(SHELLS.length)
  })

  it('docs/cli.md is up to date with npm run docs', async () => {
    expect(await generateCliReference(commands)).toBe(readFileSync(join(root, 'docs/cli.md'), 'utf8'))
  })

  it('docs/json.md is up to date with npm run docs', async () => {
    expect(await generateJsonReference(commands)).toBe(readFileSync(join(root, 'docs/json.md'), 'utf8'))
  })

  it('the man pages are up to date with npm run docs, and package.json lists all of them', async () => {
    const pages = await generateManPages(commands, version)
    for (const [file, page] of Object.entries(pages))
      expect(page).toBe(readFileSync(join(root, 'docs/man', file), 'utf8'))
    const { man } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(man.sort()).toEqual(
      Object.keys(pages)
        .map((file) => `docs/man/${file}`)
        .sort(),
    )
  })
})
