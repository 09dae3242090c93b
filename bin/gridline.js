#!/usr/bin/env node
// Stack traces of servers and of GRIDLINE_DEBUG name the source; reading the maps would slow short commands.
if (process.env.GRIDLINE_DEBUG || process.argv.includes('serve')) process.setSourceMapsEnabled(true)
const { main } = await import('../dist/main.js')

process.exitCode = await main(process.argv.slice(2))
