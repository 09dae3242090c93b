import { version } from '../contract/version.ts'

/** Runs one command line; resolves to the exit code. */
export async function main(argv: string[]): Promise<number> {
  // Fast path: scripts call this often, so load nothing else.
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    process.stdout.write(`${version}\n`)
    return 0
  }
  const { run } = await import('./run.ts')
  return run(argv)
}
