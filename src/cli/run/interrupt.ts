// Handles Ctrl-C.
import type { Context } from '../core/context.ts'

/** Thrown when the user stops a command. Unfinished writes leave no trace. */
export class Interrupted extends Error {}

/** Returns a promise that rejects with `Interrupted` on SIGINT or SIGTERM. `off` removes the listeners. */
export function watchInterrupt(context: Context): { interruption: Promise<never>; stop: () => void } {
  let listener = (): void => {}
  const happens = new Promise<never>((_, reject) => {
    listener = () => {
      context.messages.noteInterrupt()
      reject(new Interrupted())
    }
    process.once('SIGINT', listener)
    process.once('SIGTERM', listener)
  })
  happens.catch(() => {})
  return {
    interruption: happens,
    stop() {
      process.off('SIGINT', listener)
      process.off('SIGTERM', listener)
    },
  }
}
