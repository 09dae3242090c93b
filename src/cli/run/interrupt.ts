import type { Context } from '../core/context.ts'

export class Interrupted extends Error {}

/** Handles Ctrl-C: aborts the command. Unfinished writes leave no trace. */
export function onInterrupt(context: Context): { happens: Promise<never>; off: () => void } {
  let listener = (): void => {}
  const happens = new Promise<never>((_, reject) => {
    listener = () => {
      context.messages.interrupted()
      reject(new Interrupted())
    }
    process.once('SIGINT', listener)
    process.once('SIGTERM', listener)
  })
  happens.catch(() => {})
  return {
    happens,
    off() {
      process.off('SIGINT', listener)
      process.off('SIGTERM', listener)
    },
  }
}
