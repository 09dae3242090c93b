// Fast path for `gridline --help`: prints the help without loading the rest.
import { createProgram, registerCommands } from './program.ts'
import { commands } from './registry.ts'

/** Prints the help of the program. Same signature as `main` in main.ts. */
export async function main(): Promise<{ code: number; command: string }> {
  const program = createProgram()
  await registerCommands(program, commands, [], async () => {})
  program.outputHelp()
  return { code: 0, command: 'help' }
}
