// The request log of gridline serve.
import { Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { RequestLog } from '../../src/cli/output/request-log.ts'

/** A pipe whose reader is paused. */
class Pipe extends Writable {
  text = ''
  private held: (() => void) | undefined
  private reading = false

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk
    if (this.reading) done()
    else this.held = done
  }

  read(): void {
    this.reading = true
    this.held?.()
  }
}

it('the request log drops and counts lines while nobody reads them, and writes later ones', async () => {
  const pipe = new Pipe()
  const log = new RequestLog(pipe as unknown as NodeJS.WriteStream)
  const line = { path: 'x'.repeat(100_000) }
  for (let k = 0; k < 200; k++) {
    log.add(line)
    await turn()
  }
  expect(pipe.writableLength).toBeLessThan(5 * 1024 * 1024)
  pipe.read()
  await turn()
  log.add({ path: 'after' })
  log.flush()
  await turn()
  const written = pipe.text
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text))
  const dropped = Number(/^(\d+) log lines/.exec(written.find(({ error }) => error).error)?.[1])
  expect([written.length + dropped - 2, written.at(-1).path]).toEqual([200, 'after'])
})
