/**
 * Loads the command line from a cache of code compiled by V8: compiling takes as long as everything else in a
 * short command. Each command has its own cache, so that only its code is read. A cache that V8 rejects, for
 * another version or other flags, is written again. Everything works without a cache.
 */
const fs = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')
const vm = require('node:vm')
const { crc32 } = require('node:zlib')

/** Age after which caches, which may be of unused versions, are removed: 30 days. */
const OLD_MS = 30 * 24 * 3600 * 1000
/** Final comment of dist/gridline.cjs and dist/help.cjs, with a hash of the rest. */
const STAMP = /\/\/ build ([0-9a-f]{16})\n?$/

/**
 * Loads a CommonJS file for a command line. Returns its exports, and a function that saves its code after a
 * command has run; undefined if the cache cannot be used.
 */
exports.load = (file, argv) => {
  // Flags of Node change what V8 accepts.
  if (process.execArgv.length > 0 || process.env.NODE_OPTIONS) return { exported: require(file) }
  const source = fs.readFileSync(file, 'latin1')
  const stamp = STAMP.exec(source.slice(-40))?.[1]
  if (!stamp) return { exported: require(file) }
  const command = argv.find((word) => /^[a-z]{1,20}$/.test(word)) ?? 'main'
  const name = `gridline-${process.version}-${process.arch}-${stamp}-${command}.bin`
  const cached = read(name)
  const script = new vm.Script(`(function(exports,require,module,__filename,__dirname){${source}\n})`, {
    filename: file,
    cachedData: cached?.code,
  })
  const module = { exports: {} }
  script
    .runInThisContext()
    .call(module.exports, module.exports, createRequire(file), module, file, dirname(file))
  const commands = cached && !script.cachedDataRejected ? cached.commands : []
  const saveCode = (command) => {
    if (commands.includes(command)) return
    write(name, script.createCachedData(), [...commands, command])
  }
  return { exported: module.exports, saveCode }
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

/** Reads a cache: its code, and its commands. The last line of the file is a checksum and these commands. */
function read(name) {
  for (const folder of folders()) {
    try {
      if (!isPrivate(folder)) continue
      const bytes = fs.readFileSync(join(folder, name))
      const end = bytes.lastIndexOf('\n')
      const [sum, ...commands] = bytes.toString('utf8', end + 1).split(',')
      const code = bytes.subarray(0, Math.max(0, end))
      // Damaged code would crash V8.
      if (end > 0 && sum === crc32(code).toString(16)) return { code, commands }
    } catch {
      // No readable cache in this folder.
    }
  }
  return undefined
}

function write(name, code, commands) {
  for (const folder of folders()) {
    const partial = join(folder, `${name}.${process.pid}.${Math.random().toString(36).slice(2)}`)
    try {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
      if (!isPrivate(folder)) continue
      fs.writeFileSync(
        partial,
        Buffer.concat([code, Buffer.from(`\n${[crc32(code).toString(16), ...commands].join(',')}`)]),
        {
          mode: 0o600,
        },
      )
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
