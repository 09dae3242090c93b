#!/usr/bin/env node
// Entry point of the command line.
const argv = process.argv.slice(2)

const isVersion = argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')
// The general help needs no commands.
const isHelp = argv.length === 1 && /^(--help|-h|help)$/.test(argv[0])
// Other commands say errors of their output themselves. A closed pipe (`| head`) is none.
if (isVersion || isHelp)
  process.stdout.on('error', ({ code, message }) => {
    if (code !== 'EPIPE') process.stderr.write(`error: cannot write the output: ${message}\n`)
    process.exit(code === 'EPIPE' ? 0 : 1)
  })

if (isVersion) {
  // Scripts call this often: loads nothing else.
  process.stdout.write(`${require('../package.json').version}\n`)
} else {
  const file = require('node:path').join(__dirname, '..', 'dist', isHelp ? 'help.cjs' : 'gridline.cjs')
  // Source maps slow short commands, so only servers and GRIDLINE_DEBUG use them in stack traces.
  const traced = Boolean(process.env.GRIDLINE_DEBUG) || argv.includes('serve')
  if (traced) process.setSourceMapsEnabled(true)
  const { exported, saveCode } = require('./code-cache.js').load(file, argv, traced)
  exported.main(argv).then(({ code, command }) => {
    process.exitCode = code
    if (code === 0) saveCode?.(command)
    // Otherwise Node waits for V8 to compile code that will not run, such as the HTTP parser. Writes to
    // files, pipes and terminals are synchronous, except on Windows.
    // Errors of the last write are emitted before that.
    if (process.platform !== 'win32' && process.stdout.writableLength === 0)
      setImmediate(() => process.exit())
  })
}
