/** Starts the command line again with these words, detached and without output. Ignores failures. */
export function runInBackground(...words: readonly string[]): void {
  const { spawn } = process.getBuiltinModule('node:child_process')
  spawn(process.execPath, [process.argv[1], ...words], { detached: true, stdio: 'ignore' })
    .on('error', () => {})
    .unref()
}
