/** Benchmarks of hostile input against ordinary large input. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { ingestDelimited } from '../../src/ingest/index.ts'
import { NO_JSON_LIMITS, parseRaw } from '../../src/json/index.ts'
import { scanFigure } from '../../src/service/plots/scan.ts'
import { blankLine, bombs, costlyFigures, sameNames } from '../support/hostile.ts'
import type { Row } from './faults.ts'
import { cpuMs, median, peakReport, residentMegabytes } from './measure.ts'
import type { Server } from './server.ts'

const ROUNDS = 5

/** Returns medians of both, in ms, run alternately after a warm-up. */
async function inTurn(
  ours: () => unknown,
  theirs: () => unknown,
  clock: () => number = () => performance.now(),
): Promise<[number, number]> {
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [side, run] of [ours, theirs].entries()) {
      const began = clock()
      await run()
      if (round > 0) times[side].push(clock() - began)
    }
  }
  return [median(times[0]), median(times[1])]
}

/** The survey of a figure nested 240 deep, against a flat one with the same values. */
export async function survey(): Promise<Row[]> {
  const text = JSON.stringify('x'.repeat(1_000_000))
  const leaves = `{"a":${text},"b":${text},"c":${text},"d":${text}}`
  const scan = (figure: string) => {
    // A new one per round, so that no cache helps.
    const raws = Array.from({ length: ROUNDS + 1 }, () =>
      parseRaw(Buffer.from(figure), 'the text', NO_JSON_LIMITS),
    )
    return () => scanFigure(raws.pop()!)
  }
  const deep = scan(`{"data":[${'{"marker":'.repeat(240)}${leaves}${'}'.repeat(240)}]}`)
  const [a, b] = await inTurn(deep, scan(`{"data":[${leaves}]}`), () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  })
  return [
    {
      what: 'CPU time of a survey of a figure 240 deep, against a flat one',
      ours: `${a.toFixed(1)} ms`,
      theirs: `${b.toFixed(1)} ms`,
      ratio: (a / b).toFixed(2),
      atLeast: '≤ 4',
    },
  ]
}

/** Delimited text that is costly to detect carelessly, against half of it. */
export async function dialect(): Promise<Row[]> {
  const read = (text: string) => {
    const bytes = Buffer.from(text)
    const input = async function* () {
      for (let k = 0; k < bytes.length; k += 1 << 16) yield bytes.subarray(k, k + (1 << 16))
    }
    return () => ingestDelimited(input(), { source: 'x.csv' }, { slice() {} })
  }
  const rows: Row[] = []
  for (const [what, make, count] of [
    ['blanks at the start of a line', blankLine, 200_000],
    ['columns of one name', sameNames, 10_000],
  ] as const) {
    const [a, b] = await inTurn(read(make(count)), read(make(count / 2)))
    rows.push({
      what: `${count.toLocaleString('en')} ${what}, against half`,
      ours: `${a.toFixed(1)} ms`,
      theirs: `${b.toFixed(1)} ms`,
      ratio: (a / b).toFixed(2),
      atLeast: '≤ 1,500 ms, 2.5',
    })
  }
  return rows
}

/** CPU time for figures that are costly to read carelessly, against plain ones of the same size. */
export async function figures(serve: () => Promise<Server>): Promise<Row[]> {
  const server = await serve()
  const create = async (figure: string, expected: number): Promise<void> => {
    const answer = await fetch(`${server.url}/v2/plots`, {
      method: 'POST',
      headers: { authorization: server.authorization, 'content-type': 'application/json' },
      body: `{"figure":${figure},"raw_data":"grid"}`,
    })
    const text = await answer.text()
    if (answer.status !== expected) throw new Error(text.slice(0, 300))
  }
  const rows: Row[] = []
  for (const [title, figure, refused] of costlyFigures) {
    const plain = `{"data":[{"name":"${'x'.repeat(figure.length)}"}]}`
    const [a, b] = await inTurn(
      () => create(figure, refused ? 400 : 200),
      () => create(plain, 200),
      () => cpuMs(server.child),
    )
    rows.push({
      what: `CPU time, against plain text of that size: ${title}`,
      ours: `${a.toFixed(0)} ms`,
      theirs: `${b.toFixed(0)} ms`,
      ratio: b > 0 ? (a / b).toFixed(2) : '',
      atLeast: '≤ 2,000 ms',
    })
  }
  await server.stop()
  return rows
}

/** Time to refuse archive bombs, against the upload of 1 MB of ordinary CSV. */
export async function archives(serve: () => Promise<Server>): Promise<Row[]> {
  const server = await serve()
  const upload = async (name: string, bytes: Buffer, expected: number): Promise<void> => {
    const answer = await fetch(`${server.url}/v2/grids/upload`, {
      method: 'POST',
      headers: {
        authorization: server.authorization,
        'x-file-name': name,
        'content-type': 'application/octet-stream',
      },
      body: new Uint8Array(bytes),
    })
    const text = await answer.text()
    if (answer.status !== expected) throw new Error(text.slice(0, 300))
  }
  const ordinary = Buffer.from(`a,b\n${'12345,6789\n'.repeat(95_000)}`)
  const rows: Row[] = []
  for (const [name, bytes] of await bombs()) {
    const [a, b] = await inTurn(
      () => upload(name, bytes, 400),
      () => upload('ordinary.csv', ordinary, 201),
    )
    rows.push({
      what: `${name} is refused, against an upload of 1 MB of CSV`,
      ours: `${a.toFixed(0)} ms`,
      theirs: `${b.toFixed(0)} ms`,
      ratio: (a / b).toFixed(2),
      atLeast: '≤ 2,000 ms',
    })
  }
  await server.stop()
  return rows
}

/** Peak memory of client and server for an upload of 300 MB from a pipe, against 10 MB. */
export async function piped(
  serve: () => Promise<Server>,
  { executable, folder }: { executable: string; folder: string },
): Promise<Row[]> {
  const block = Buffer.from(Array.from({ length: 40_000 }, (_, k) => `${k},some text of row ${k}\n`).join(''))
  const peaks = async (megabytes: number): Promise<{ client: number; server: number }> => {
    const server = await serve()
    const report = peakReport(folder)
    const child = spawn(
      process.execPath,
      [...report.nodeArguments, executable, 'upload', '-', '--name', 'flat', '-q'],
      { env: { ...process.env, ...server.env }, stdio: ['pipe', 'ignore', 'inherit'] },
    )
    const closed = once(child, 'close')
    child.stdin.write('n,text\n')
    for (let sent = 0; sent < megabytes << 20; sent += block.length) {
      if (!child.stdin.write(block)) await once(child.stdin, 'drain')
    }
    child.stdin.end()
    const [code] = await closed
    if (code !== 0) throw new Error(`the upload ended with ${code}`)
    const found = { client: report.read(), server: residentMegabytes(server.child, 'VmHWM') }
    await server.stop()
    return found
  }
  const [small, large] = [await peaks(10), await peaks(300)]
  return (['client', 'server'] as const).map((side) => ({
    what: `peak memory of the ${side}, 300 MB from a pipe, against 10 MB`,
    ours: `${large[side].toFixed(0)} MB`,
    theirs: `${small[side].toFixed(0)} MB`,
    ratio: (large[side] / small[side]).toFixed(2),
    atLeast: side === 'client' ? '≤ 220 MB' : '≤ 250 MB',
  }))
}
