// Runs command lines one after another in this process, which has loaded the build: to start Node and to compile takes
// ten times as long as most commands.
import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
const executable = fileURLToPath(new URL('../../bin/gridline.js', import.meta.url))
const { exported } = require('../../bin/code-cache.js').load(
  fileURLToPath(new URL('../../dist/gridline.cjs', import.meta.url)),
  [],
  true,
)
const { stdout, stderr } = process
const title = process.title
/** Events for which a command may leave listeners behind. */
const EVENTS = ['exit', 'SIGINT', 'SIGTERM', 'warning', 'uncaughtException']
const listeners = new Map(EVENTS.map((event) => [event, process.listeners(event)]))
let exit = () => {}

// A command leaves files open that end with its process: a later one must not be warned of them.
const { emitWarning } = process
process.emitWarning = (warning, ...more) => {
  if (!/on garbage collection/.test(String(warning))) emitWarning.call(process, warning, ...more)
}

// Timers and databases that a command has left must not keep this process when its tests have ended.
process.on('disconnect', process.exit.bind(process, 0))

// What runs on must not do more.
process.exit = (code) => {
  exit(code ?? process.exitCode ?? 0)
  throw new Error('the command has ended')
}
process.on('unhandledRejection', () => {})

process.on('message', async ({ argv, cwd, env, input }) => {
  const written = { stdout: [], stderr: [] }
  const capture = (name) => (chunk, encoding, done) => {
    written[name].push(typeof chunk === 'string' ? Buffer.from(chunk, 'utf8') : Buffer.from(chunk))
    const then = typeof encoding === 'function' ? encoding : done
    if (then) process.nextTick(then)
    return true
  }
  stdout.write = capture('stdout')
  stderr.write = capture('stderr')
  process.chdir(cwd)
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
  process.argv = [process.execPath, executable, ...argv]
  process.exitCode = undefined
  Object.defineProperty(process, 'stdin', {
    value: Readable.from(input.length > 0 ? [Buffer.from(input)] : [], { objectMode: false }),
    configurable: true,
  })
  let isClean = true
  const exited = new Promise((resolve) => {
    exit = (code) => {
      // Completion ends by itself, and leaves only requests behind.
      isClean = argv[0] === '__complete' && code === 0
      resolve({ code })
    }
  })
  const { code } = await Promise.race([exported.main(argv), exited]).catch((error) => {
    isClean = false
    stderr.write(`${error.stack}\n`)
    return { code: 1 }
  })
  exit = () => {}
  for (const event of EVENTS)
    for (const listener of process.listeners(event)) {
      if (listeners.get(event).includes(listener)) continue
      process.off(event, listener)
      if (event === 'exit') listener(code)
    }
  process.title = title
  for (const stream of [stdout, stderr]) stream.removeAllListeners('error')
  process.send({
    code,
    stdout: Buffer.concat(written.stdout),
    stderr: Buffer.concat(written.stderr),
    // Commands that end by themselves leave nothing behind.
    isClean,
  })
})
