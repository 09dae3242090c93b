/**
 * Loads the command line from the code that V8 compiled in an earlier run: compiling it takes as long as everything else
 * in a short command. Each command has a cache of its own, so that only its code is read. A cache that V8 does not accept, because it is of
 * another version or has other flags, is written again. Nothing fails without a cache.
 */
const fs = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')
const vm = require('node:vm')
const { crc32 } = require('node:zlib')

/** Caches of versions that are no longer run are removed after 30 days. */
const OLD_MS = 30 * 24 * 3600 * 1000
/** The end of dist/gridline.cjs and dist/help.cjs: a comment with a hash of the rest. */
const STAMP = /\/\/ build ([0-9a-f]{16})\n?$/

/**
 * Returns the exports of a CommonJS file for a command line, and a function that saves its code after a command has run. That is undefined
 * if it makes no sense.
 */
exports.load = (file, argv) => {
  // Flags of Node change what V8 accepts.
  if (process.execArgv.length > 0 || process.env.NODE_OPTIONS) return { exported: require(file) }
  const source = fs.readFileSync(file, 'latin1')
  const stamp = STAMP.exec(source.slice(-40))?.[1]
  if (!stamp) return { exported: require(file) }
  const command = argv.find((word) => /^[a-z]{1,20}$/.test(word)) ?? 'main'
  const name = `gridline-${process.version}-${process.arch}-${stamp}-${command}.bin`
  const found = read(name)
  const script = new vm.Script(`(function(exports,require,module,__filename,__dirname){${source}\n})`, {
    filename: file,
    cachedData: found?.code,
  })
  const module = { exports: {} }
  script
    .runInThisContext()
    .call(module.exports, module.exports, createRequire(file), module, file, dirname(file))
  const commands = found && !script.cachedDataRejected ? found.commands : []
  const saveCode = (command) => {
    if (commands.includes(command)) return
    write(name, script.createCachedData(), [...commands, command])
  }
  return { exported: module.exports, saveCode }
}

/** Folders for the cache, best first: that of the build, if it is the user's; that of the user. */
function* folders() {
  yield join(__dirname, '..', 'dist', 'code-cache')
  const { GRIDLINE_HOME, XDG_CACHE_HOME, HOME, LOCALAPPDATA } = process.env
  if (GRIDLINE_HOME) yield join(GRIDLINE_HOME, 'code-cache')
  else if (XDG_CACHE_HOME) yield join(XDG_CACHE_HOME, 'gridline')
  else if (process.platform === 'win32' && LOCALAPPDATA) yield join(LOCALAPPDATA, 'gridline')
  else if (HOME) yield join(HOME, '.cache', 'gridline')
}

/** Returns whether a folder is the user's, and nobody else can write to it: what is in it is run. */
function isPrivate(folder) {
  const { uid, mode } = fs.statSync(folder)
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0)
}

/**
 * Returns the code of a cache, and the commands that it has code of. These, after a checksum, are the last
 * line of the file.
 */
function read(name) {
  for (const folder of folders()) {
    try {
      if (!isPrivate(folder)) continue
      const bytes = fs.readFileSync(join(folder, name))
      const end = bytes.lastIndexOf('\n')
      const [sum, ...commands] = bytes.toString('utf8', end + 1).split(',')
      const code = bytes.subarray(0, Math.max(0, end))
      // V8 does not survive code that is damaged.
      if (end > 0 && sum === crc32(code).toString(16)) return { code, commands }
    } catch {
      // There is none here.
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
        // It was not made.
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
