// Benchmarks of overload, lost databases and many equal names.
import { fork, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { startPostgres } from '../support/postgres.ts'
import { sendLoad } from './load.ts'

/** What the rows of this file need from a benchmark server. */
interface Server {
  url: string
  authorization: string
  stop: () => Promise<void>
}

/** A row of the printed table. */
export interface Row {
  what: string
  ours: string
  theirs: string
  ratio: string
  atLeast: string
}

/** Requests /healthz from a separate process, so that the load generator does not count. */
const POLLER = `
import { Agent, get } from 'node:http'
const agent = new Agent({ keepAlive: true })
let worst = 0
process.on('message', () => process.send(worst, () => process.exit(0)))
for (;;) {
  const began = performance.now()
  await new Promise((done) => get(process.argv[2] + '/healthz', { agent }, (answer) => answer.resume().on('end', done)).on('error', done))
  if (worst === 0) process.send('connected')
  worst = Math.max(worst, performance.now() - began)
  await new Promise((done) => setTimeout(done, 5))
}
`

/** One-row appends on ten times the connections that saturate the server. */
export async function overload(serve: () => Promise<Server>, folder: string): Promise<Row[]> {
  const server = await serve()
  const poller = join(folder, 'poller.mjs')
  writeFileSync(poller, POLLER)
  await fetch(`${server.url}/v2/grids`, {
    method: 'POST',
    headers: { authorization: server.authorization, 'content-type': 'application/json' },
    body: '{"filename":"g","data":{"cols":{"n":{"data":[]},"city":{"data":[]}}}}',
  })
  const load = (connections: number) =>
    sendLoad(
      { ...server, method: 'POST', path: '/v2/grids/bench:0/row', body: () => '{"rows":[[1,"Oslo"]]}' },
      connections,
      5,
    )
  await load(64)
  const rows: Row[] = []
  for (const connections of [640, 2000]) {
    const usual = await load(64)
    const child = fork(poller, [server.url], { stdio: 'ignore' })
    // Node accepts one connection per event-loop iteration, so a new one waits behind hundreds.
    await new Promise((resolve) => child.once('message', resolve))
    const over = await load(connections)
    const worst = await new Promise<number>((resolve) => {
      child.once('message', (value) => resolve(Number(value)))
      child.send('end')
    })
    const [a, b] = [over.acks / over.seconds, usual.acks / usual.seconds]
    rows.push(
      {
        what: `goodput on ${connections} connections, against 64`,
        ours: `${a.toFixed(0)} acks/s`,
        theirs: `${b.toFixed(0)} acks/s`,
        ratio: (a / b).toFixed(2),
        atLeast: '≥ 0.85',
      },
      {
        what: `health on ${connections} connections, worst`,
        ours: `${worst.toFixed(0)} ms`,
        theirs: `${over.failures} refused`,
        ratio: '',
        atLeast: '≤ 100 ms',
      },
    )
  }
  await server.stop()
  return rows
}

/** Time until a write succeeds after PostgreSQL accepts connections again. */
export async function failover(executable: string, home: string): Promise<Row[]> {
  const postgres = await startPostgres()
  const env = { ...process.env, GRIDLINE_HOME: home, GRIDLINE_LIMIT_STATEMENT_SECONDS: '10' }
  const run = (args: string[]) =>
    spawn(process.execPath, [executable, ...args, '--database', postgres.url], { env })
  const output = (
    child: ReturnType<typeof run>,
    stream: 'stdout' | 'stderr',
    pattern: RegExp,
  ): Promise<string> =>
    new Promise((resolve) => {
      let text = ''
      child[stream]!.on('data', (chunk) => {
        text += chunk
        const found = pattern.exec(text)
        if (found) resolve(found[1])
      })
    })
  const key = await output(run(['admin', 'create-user', 'bench', '--json']), 'stdout', /"api_key":"([^"]+)"/)
  const child = run(['serve', '--port', '0', '-q'])
  const url = await output(child, 'stderr', /listening on (\S+)/)
  const authorization = `Basic ${Buffer.from(`bench:${key}`).toString('base64')}`
  const write = (): Promise<number> =>
    new Promise((resolve) => {
      const sent = request(
        `${url}/v2/folders`,
        { method: 'POST', headers: { authorization, 'content-type': 'application/json' } },
        (answer) => answer.resume().on('end', () => resolve(answer.statusCode ?? 0)),
      )
      sent.on('error', () => resolve(0))
      sent.end(JSON.stringify({ path: `f${Math.random()}` }))
    })
  const times: number[] = []
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGINT'] as const) {
    await write()
    await postgres.restart(signal)
    const began = performance.now()
    while ((await write()) !== 201);
    times.push(performance.now() - began)
  }
  const exited = child.exitCode !== null
  child.kill('SIGINT')
  await postgres.stop()
  return [
    {
      what: 'first write after a restart of PostgreSQL, worst of 3',
      ours: `${Math.max(...times).toFixed(0)} ms`,
      theirs: exited ? 'the server exited' : 'the server stayed up',
      ratio: '',
      atLeast: '≤ 1 s',
    },
  ]
}

/** The 20,000th file with the same name, against the tenth. */
export async function names(serve: () => Promise<Server>): Promise<Row[]> {
  const server = await serve()
  const headers = {
    authorization: server.authorization,
    'x-file-name': 'many.csv',
    'content-type': 'text/csv',
  }
  const upload = async (): Promise<number> => {
    const began = performance.now()
    const { status, text } = await fetch(`${server.url}/v2/grids/upload`, {
      method: 'POST',
      headers,
      body: 'a\n1\n',
    }).then(async (answer) => ({ status: answer.status, text: await answer.text() }))
    if (status !== 201) throw new Error(text)
    return performance.now() - began
  }
  const some = async (count: number): Promise<number[]> => {
    const times: number[] = []
    for (let k = 0; k < count; k++) times.push(await upload())
    return times
  }
  await some(50)
  const first = await some(50)
  await Promise.all(Array.from({ length: 20 }, () => some(995)))
  const last = await some(50)
  await server.stop()
  const middle = (times: number[]): number => [...times].sort((a, b) => a - b)[times.length >> 1]
  return [
    {
      what: 'the 20,000th file of one name, against the 100th',
      ours: `${middle(last).toFixed(1)} ms`,
      theirs: `${middle(first).toFixed(1)} ms`,
      ratio: (middle(last) / middle(first)).toFixed(2),
      atLeast: '≤ 2',
    },
  ]
}
