#!/usr/bin/env node
const argv = process.argv.slice(2)

if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  // Scripts call this often, so nothing else is loaded.
  process.stdout.write(`${require('../package.json').version}\n`)
} else {
  // The help of the program needs none of its commands.
  const isHelp = argv.length === 1 && /^(--help|-h|help)$/.test(argv[0])
  const file = require('node:path').join(__dirname, '..', 'dist', isHelp ? 'help.cjs' : 'gridline.cjs')
  // Stack traces of servers and of GRIDLINE_DEBUG name the source; reading the maps would slow short commands.
  const traced = Boolean(process.env.GRIDLINE_DEBUG) || argv.includes('serve')
  if (traced) process.setSourceMapsEnabled(true)
  const { exported, saveCode } = traced
    ? { exported: require(file) }
    : require('./code-cache.js').load(file, argv)
  exported.main(argv).then(({ code, command }) => {
    process.exitCode = code
    if (code === 0) saveCode?.(command)
    // Otherwise Node waits for V8 to compile what will not run any more, such as the parser of HTTP. Writes to files, pipes
    // and terminals are done when they return, but not on Windows.
    if (process.platform !== 'win32' && process.stdout.writableLength === 0) process.exit()
  })
}
