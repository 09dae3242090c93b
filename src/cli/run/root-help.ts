import { programOf, registerCommands } from './program.ts'
import { commands } from './registry.ts'

/** `gridline --help`, without the rest of the program: it has the form of `main`. */
export async function main(): Promise<{ code: number; command: string }> {
  // The reader may have closed the pipe (`| head`).
  process.stdout.on('error', () => process.exit(0))
  const program = programOf()
  await registerCommands(program, commands, [], async () => {})
  program.outputHelp()
  return { code: 0, command: 'help' }
}
