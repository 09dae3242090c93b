/**
 * Loads the command line from a cache of code compiled by V8: compiling takes as long as everything else in a
 * short command. Each command has its own cache, so that only its code is read. A cache that V8 rejects, for
 * another version or other flags, is written again. Everything works without a cache.
 */
const { isAscii } = require('node:buffer')
const fs = require('node:fs')
const { createRequire } = require('node:module')
const { basename, dirname, join } = require('node:path')
const vm = require('node:vm')
const { crc32 } = require('node:zlib')

/** Age after which caches, which may be of unused versions, are removed: 30 days. */
const OLD_MS = 30 * 24 * 3600 * 1000
/** Maximum size of a library whose code is cached: all later commands of the same name read the cache. */
const MAX_LIBRARY_BYTES = 256 * 1024
/** Final comment of dist/gridline.cjs and dist/help.cjs, with a hash of the build. */
const STAMP = /\/\/ build ([0-9a-f]{16})\n+\}\)$/
/** Begin and end of the function of a module. */
const HEAD = Buffer.from('(function(exports,require,module,__filename,__dirname){')
const TAIL = Buffer.from('\n})')

/**
 * Loads the build for a command line, from the cache unless `isTraced`. Returns its exports, and a function
 * that saves the code after a command has run; undefined if the cache cannot be used. A file of the build has
 * chunks as functions, by name; `packs` of the first one names the file of each chunk, if it is not its own.
 */
exports.load = (file, argv, isTraced) => {
  const folder = dirname(file)
  const requireFile = createRequire(file)
  const cache = isTraced ? undefined : openCache(file, argv)
  const files = new Map()
  const loadFile = (name) => {
    let loaded = files.get(name)
    if (!loaded) {
      const exported = cache?.load(name) ?? requireFile(`./${name}`)
      loaded = { exported, path: join(folder, name) }
      files.set(name, loaded)
    }
    return loaded
  }
  const first = loadFile(basename(file)).exported
  if (!first.packs) return { exported: first, saveCode: cache?.save }
  const modules = new Map()
  const requireChunk = (id) => {
    if (id.startsWith('./vendor/')) return loadFile(id.slice(2)).exported
    if (!id.startsWith('./cli-')) return requireFile(id)
    return modules.get(id)?.exports ?? run(id)
  }
  const run = (id) => {
    const chunk = id.slice(2)
    const module = { exports: {} }
    modules.set(id, module)
    try {
      const { exported, path } = loadFile(first.packs[chunk] ?? chunk)
      exported[chunk](module.exports, requireChunk, module, path, requireChunk, module)
    } catch (error) {
      // The next use tries again.
      modules.delete(id)
      throw error
    }
    return module.exports
  }
  return { exported: run(`./${basename(file)}`), saveCode: cache?.save }
}

/** Opens the cache of a build for a command line; undefined if V8 would not accept its code. */
function openCache(file, argv) {
  // Flags of Node change what V8 accepts.
  if (process.execArgv.length > 0 || process.env.NODE_OPTIONS) return undefined
  const sources = new Map([[basename(file), readWrapped(file)]])
  const stamp = STAMP.exec(sources.get(basename(file)).slice(-40))?.[1]
  if (!stamp) return undefined
  const folder = dirname(file)
  const word = argv.find((argument) => /^[a-z]{1,20}$/.test(argument)) ?? 'main'
  const cacheName = `gridline-${process.version}-${process.arch}-${stamp}-${word}.bin`
  const cached = read(cacheName)
  // A long first command would drop the code that it no longer uses.
  if (!cached) setFlushing(false)
  const scripts = new Map()
  return {
    /** Loads a file; undefined for a library whose code is not cached. */
    load(name) {
      const path = join(folder, name)
      const source = sources.get(name) ?? (name.startsWith('vendor/') ? readLibrary(path) : readWrapped(path))
      if (source === undefined) return undefined
      const script = new vm.Script(source, {
        filename: path,
        cachedData: cached?.codes.get(name),
      })
      scripts.set(name, script)
      const module = { exports: {} }
      script.runInThisContext()(module.exports, createRequire(path), module, path, folder)
      return module.exports
    },
    save(command) {
      const isRejected = [...scripts.values()].some(({ cachedDataRejected }) => cachedDataRejected)
      const commands = cached && !isRejected ? cached.commands : []
      // With a server, a command loads other files than without.
      const hasAll = [...scripts.keys()].every((name) => cached?.codes.has(name))
      if (commands.includes(command) && hasAll) return
      const codes = new Map(commands.length > 0 ? cached.codes : [])
      // V8 accepts only code of the same flags.
      if (!cached) setFlushing(true)
      for (const [name, script] of scripts) codes.set(name, script.createCachedData())
      write(cacheName, codes, [...new Set([...commands, command])])
    },
  }
}

/** Reads a file of the build as the function of a module. */
function readWrapped(file) {
  return wrap(fs.readFileSync(file))
}

/** Reads a library as `readWrapped`; undefined if it is large, has other characters than ASCII, or imports modules. */
function readLibrary(file) {
  if (fs.statSync(file).size > MAX_LIBRARY_BYTES) return undefined
  const bytes = fs.readFileSync(file)
  // Scripts cannot import modules.
  return isAscii(bytes) && !bytes.includes('import(') ? wrap(bytes) : undefined
}

/** Returns the function of a module as one string: V8 would copy a joined one. */
function wrap(bytes) {
  return Buffer.concat([HEAD, bytes, TAIL]).latin1Slice()
}

/** Sets whether V8 drops the compiled code of functions that were not called for some time. */
function setFlushing(isOn) {
  require('node:v8').setFlagsFromString(isOn ? '--flush-bytecode' : '--no-flush-bytecode')
}

/** Yields the folders for the cache, best first: of the build, then of the user. */
function* folders() {
  yield join(__dirname, '..', 'dist', 'code-cache')
  const { GRIDLINE_HOME, XDG_CACHE_HOME, HOME, LOCALAPPDATA } = process.env
  if (GRIDLINE_HOME) yield join(GRIDLINE_HOME, 'code-cache')
  else if (XDG_CACHE_HOME) yield join(XDG_CACHE_HOME, 'gridline')
  else if (process.platform === 'win32' && LOCALAPPDATA) yield join(LOCALAPPDATA, 'gridline')
  else if (HOME) yield join(HOME, '.cache', 'gridline')
}

/** Returns whether only the user can access a folder, since the code in it is run. */
function isPrivate(folder) {
  const { uid, mode } = fs.statSync(folder)
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0)
}

/**
 * Reads a cache: the compiled code of each chunk, and its commands. The last line of the file is a checksum,
 * and JSON of the commands and of the length of each code.
 */
function read(name) {
  for (const folder of folders()) {
    try {
      if (!isPrivate(folder)) continue
      const bytes = fs.readFileSync(join(folder, name))
      const end = bytes.lastIndexOf('\n')
      const [, sum, index] = /^(\w+) (.*)$/.exec(bytes.toString('latin1', end + 1))
      // Damaged code would crash V8.
      if (sum !== crc32(bytes.subarray(0, end)).toString(16)) continue
      const { commands, lengths } = JSON.parse(index)
      const codes = new Map()
      let at = 0
      for (const [id, length] of lengths) codes.set(id, bytes.subarray(at, (at += length)))
      if (at === end) return { codes, commands }
    } catch {
      // No readable cache in this folder.
    }
  }
  return undefined
}

function write(name, codes, commands) {
  const bytes = Buffer.concat([...codes.values()])
  const index = JSON.stringify({ commands, lengths: [...codes].map(([id, { length }]) => [id, length]) })
  const contents = Buffer.concat([bytes, Buffer.from(`\n${crc32(bytes).toString(16)} ${index}`)])
  for (const folder of folders()) {
    const partial = join(folder, `${name}.${process.pid}.${Math.random().toString(36).slice(2)}`)
    try {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
      if (!isPrivate(folder)) continue
      fs.writeFileSync(partial, contents, { mode: 0o600 })
      fs.renameSync(partial, join(folder, name))
      removeOld(folder)
      return
    } catch {
      // Not writable, or the disk is full.
      try {
        fs.rmSync(partial, { force: true })
      } catch {
        // It was not created.
      }
    }
  }
}

function removeOld(folder) {
  for (const name of fs.readdirSync(folder)) {
    if (!name.startsWith('gridline-')) continue
    const file = join(folder, name)
    if (Date.now() - fs.statSync(file).mtimeMs > OLD_MS) fs.rmSync(file, { force: true })
  }
}
