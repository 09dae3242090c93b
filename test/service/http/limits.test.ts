// Limits of bodies, uploads, requests, connections and names.
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HttpRequest, HttpResponse } from '../../../src/contract/http.ts'
import { readLimits } from '../../../src/contract/limits.ts'
import { Admission, ByteBudget } from '../../../src/service/core/admission.ts'
import { createService, type Listening, listen } from '../../../src/service/index.ts'
import { xlsx, zip } from '../../support/archives.ts'
import { runs } from '../../support/property-runs.ts'
import { TestService, temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

const folder = temporaryFolder()
let test: TestService
let listening: Listening
const environment = { GRIDLINE_LIMIT_SLOW_SECONDS: '1' }

beforeAll(async () => {
  test = new TestService(
    await createService({
      database: `sqlite:${join(folder.path, 'test.db')}`,
      url: URL_OF_TESTS,
      environment,
    }),
  )
  await test.user('alice')
  await test.user('bob')
  await test.grid('alice', 'grid', { a: [1], b: ['x'] })
  listening = await listen(() => test.service, {
    host: '127.0.0.1',
    port: 0,
    limits: readLimits(environment),
  })
})
afterAll(async () => {
  await listening.stop(0)
  await test.service.close()
  folder.remove()
})

const basic = (user: string): string =>
  `Basic ${Buffer.from(`${user}:${test.keys.get(user)}`).toString('base64')}`

/** Sends bytes on a connection, and returns its complete response. */
function raw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(listening.port, '127.0.0.1', () => socket.write(bytes))
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })
}

describe('the cost of a body before authorization is bounded', () => {
  it('a missing or unreadable file is 404 before the body has arrived', async () => {
    for (const user of [undefined, 'bob']) {
      const status = await new Promise((resolve, reject) => {
        const sent = request(
          {
            port: listening.port,
            method: 'POST',
            path: '/v2/files/alice:0/collaborators',
            headers: {
              'content-type': 'application/json',
              'content-length': 60_000_000,
              ...(user ? { authorization: basic(user) } : {}),
            },
          },
          (answer) => {
            resolve(answer.statusCode)
            sent.destroy()
          },
        )
        sent.on('error', reject)
        // Only the headers: the body never arrives.
        sent.flushHeaders()
      })
      expect(status).toBe(404)
    }
  })

  it('ordinary bodies have a small limit; unknown fields are skipped and named', async () => {
    const big = await test.ask('alice', 'PATCH', '/v2/files/alice:0', {
      json: { filename: 'grid', padding: 'x'.repeat(1024 * 1024) },
    })
    expect([big.status, big.json.detail]).toEqual([413, expect.stringContaining('small_body_bytes')])
    const skipped = await test.ask('alice', 'PATCH', '/v2/files/alice:0', { json: { unknown: [[[]]] } })
    expect([skipped.status, skipped.json.warnings]).toEqual([
      200,
      [expect.stringContaining('unknown is not a known field here')],
    ])
  })

  it('anonymous forms use no slots or memory of uploads and bodies', async () => {
    const { fetch } = test.service
    const form = (bytes: number) =>
      fetch(
        new Request(`${URL_OF_TESTS}/external`, {
          method: 'POST',
          body: `data=${'x'.repeat(bytes)}`,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
      )
    expect((await form(17 * 1024 * 1024)).status).toBe(413)
    // Unread responses keep their bytes: the budget of forms is used up, that of users is not.
    const held = await Promise.all([form(12 * 1024 * 1024), form(12 * 1024 * 1024)])
    expect(held.map(({ status }) => status)).toEqual([200, 200])
    const grid = await test.grid('alice', `beside forms ${Math.random()}`, { a: [1] })
    expect(grid.fid).toBeDefined()
    for (const { body } of held) await body?.cancel()
  })

  it('the memory for bodies is limited, in total and per user', async () => {
    const budget = new ByteBudget(100, 'bodies_bytes')
    await budget.runCounted('ann', async (take) => {
      take(50)
      expect(() => take(1)).toThrow(/bodies_bytes/)
      await budget.runCounted('ben', async (other) => {
        other(50)
        await expect(budget.runCounted('cal', async (third) => third(1))).rejects.toThrow(/bodies_bytes/)
      })
    })
    await budget.runCounted('ann', async (take) => take(50))
  })
})

describe('small uploads cannot cause large costs', () => {
  const upload = async (name: string, body: string | Uint8Array, headers: Record<string, string> = {}) => {
    const { status, json } = await test.ask('alice', 'POST', '/v2/grids/upload', {
      body,
      headers: { 'x-file-name': name, ...headers },
    })
    return [status, json.detail]
  }

  it('a cell far to the right in each row of a sheet is refused', async () => {
    const cells = Array.from({ length: 2000 }, (_, r) => `<row><c r="XFD${r + 1}"><v>1</v></c></row>`)
    const book = await xlsxWith(cells.join(''))
    expect(await upload('far.xlsx', book)).toEqual([
      400,
      expect.stringContaining('rows and 16384 columns, with fewer than one cell in 100 filled'),
    ])
  })

  it('a new name in each record is refused', async () => {
    const lines = Array.from({ length: 9000 }, (_, k) => `{"c${k}":1}\n`)
    expect(await upload('names.ndjson', lines.join(''))).toEqual([
      400,
      expect.stringContaining('fewer than one cell in 100'),
    ])
  })

  it('rows of one cell below a very wide header are refused', async () => {
    const names = Array.from({ length: 9000 }, (_, k) => `c${k}`).join(',')
    const short = await upload('short.csv', `${names}\n${'1\n'.repeat(2000)}`, {
      'gridline-delimiter': 'comma',
      'gridline-header': 'true',
    })
    expect(short).toEqual([400, expect.stringContaining('fewer than one cell in 100')])
  })

  it('columns of very different lengths that an append would pad are refused', async () => {
    const cols = Object.fromEntries(
      Array.from({ length: 300 }, (_, k) => [`c${k}`, k === 0 ? Array(20_000).fill(1) : []]),
    )
    const { fid } = await test.grid('alice', 'ragged', cols)
    const { status, json } = await test.ask('alice', 'POST', `/v2/grids/${fid}/row`, {
      json: { rows: [Array(300).fill(1)] },
    })
    expect([status, json.detail]).toEqual([400, expect.stringContaining('over 99% of the cells')])
  })

  it('a long shared string in every cell of a workbook is refused', async () => {
    const rows = Array.from({ length: 100_000 }, () => '<row><c t="s"><v>0</v></c></row>')
    const book = await xlsxWith(rows.join(''), `<sst><si><t>${'x'.repeat(30_000)}</t></si></sst>`)
    expect(await upload('long.xlsx', book)).toEqual([400, expect.stringContaining('compression_ratio')])
  })

  it('forms with very many fields are refused, urlencoded and multipart', async () => {
    const form = await test.ask('alice', 'PATCH', '/v2/files/alice:0', {
      body: 'a=1&'.repeat(200_000),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect([form.status, form.json.detail]).toEqual([400, expect.stringContaining('form_fields')])
    const part = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n'
    expect(
      await upload('parts', `${part.repeat(5000)}--b--\r\n`, {
        'content-type': 'multipart/form-data; boundary=b',
      }),
    ).toEqual([400, expect.stringContaining('form_fields')])
  })

  it('rows, records and columns with very many members are refused', async () => {
    const wide = `[${'1,'.repeat(2_000_000)}1]`
    const { fid } = await test.grid('alice', 'narrow', { a: [1] })
    for (const [body, path, type, why] of [
      [`{"rows":[${wide}]}`, `/v2/grids/${fid}/row`, 'application/json', 'columns'],
      [`{"rows":[[1],${wide}]}`, `/v2/grids/${fid}/row`, 'application/json', 'more values than'],
      [`{"cols":[${'{},'.repeat(500_000)}{}]}`, `/v2/grids/${fid}/col?uid=abc`, 'put', 'more than 1'],
    ]) {
      const { status, json } = await test.ask('alice', type === 'put' ? 'PUT' : 'POST', path, {
        body,
        headers: { 'content-type': 'application/json' },
      })
      expect([status, json.detail]).toEqual([400, expect.stringContaining(why)])
    }
    expect(await upload('wide.json', `[${wide}]`)).toEqual([400, expect.stringContaining('columns')])
    expect(await upload('names.json', `[["a"],[${'1,'.repeat(2_000_000)}1]]`)).toEqual([
      400,
      expect.stringContaining('columns'),
    ])
  })

  it('a sheet with ordinary gaps is accepted', async () => {
    const cells = Array.from({ length: 300 }, (_, k) => (k % 3 === 0 ? k : null))
    const book = await xlsx({ only: [cells.map((_, k) => `c${k}`), cells, cells] })
    expect((await upload('gaps.xlsx', book))[0]).toBe(201)
  })

  async function xlsxWith(rows: string, texts = '<sst/>'): Promise<Buffer> {
    return zip({
      'xl/workbook.xml':
        '<workbook xmlns:r="r"><sheets><sheet name="a" sheetId="1" r:id="rId1"/></sheets></workbook>',
      'xl/_rels/workbook.xml.rels':
        '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>',
      'xl/sharedStrings.xml': texts,
      'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
    })
  }
})

describe('the number of concurrent requests is limited', () => {
  const most = { running: 4, waiting: 8, wait: 10_000 }

  it('the server never runs more requests than allowed, serves users in turn, and answers all', async () => {
    const job = fc.record({
      user: fc.constantFrom('ann', 'ben', 'cal'),
      turns: fc.nat(3),
      gone: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(job, { maxLength: 40 }), async (jobs) => {
        const admission = new Admission(most, 'requests_waiting')
        const running = new Map<string, number>()
        let all = 0
        const outcomes = await Promise.allSettled(
          jobs.map(({ user, turns, gone }) =>
            admission.run(
              user,
              async () => {
                running.set(user, (running.get(user) ?? 0) + 1)
                expect(++all).toBeLessThanOrEqual(most.running)
                expect(running.get(user)).toBeLessThanOrEqual(most.running / 2)
                for (let k = 0; k < turns; k++) await new Promise(setImmediate)
                running.set(user, running.get(user)! - 1)
                all--
              },
              () => gone,
            ),
          ),
        )
        for (const outcome of outcomes)
          if (outcome.status === 'rejected') expect(outcome.reason.code).toMatch(/^(overloaded|aborted)$/)
        expect(admission.load).toEqual({ running: 0, waiting: 0 })
      }),
      { numRuns: runs(60, 200) },
    )
  })

  it('a full queue or a long wait is answered with 503', async () => {
    const admission = new Admission({ running: 2, waiting: 4, wait: 1 }, 'requests_waiting')
    let end = (): void => {}
    const stuck = admission.run(
      'ann',
      () =>
        new Promise<void>((resolve) => {
          end = resolve
        }),
    )
    const late = admission.run('ann', async () => {})
    const other = admission.run('ann', async () => {})
    expect(admission.isFullFor('ann')).toBe(true)
    await expect(admission.run('ann', async () => {})).rejects.toMatchObject({ code: 'overloaded' })
    expect(admission.isFullFor('ben')).toBe(false)
    await expect(late).rejects.toMatchObject({ code: 'overloaded' })
    await expect(other).rejects.toMatchObject({ code: 'overloaded' })
    end()
    await stuck
    await admission.run('ann', async () => {})
  })

  it('health checks are answered while everything else is refused', async () => {
    const busy = { handle: test.service.handle, refuses: () => true }
    const other = await listen(() => busy, { host: '127.0.0.1', port: 0, limits: readLimits() })
    const at = `http://127.0.0.1:${other.port}`
    const refused = fetch(`${at}/v2`)
    expect((await fetch(`${at}/healthz`)).status).toBe(200)
    const answer = await refused
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    await other.stop(0)
  })
})

describe('limits of JSON and of gzip', () => {
  it('limits of JSON and gzip obey their settings in bodies, strings, files and rows', async () => {
    const place = temporaryFolder()
    const small = new TestService(
      await createService({
        database: `sqlite:${join(place.path, 'test.db')}`,
        url: URL_OF_TESTS,
        environment: {
          GRIDLINE_LIMIT_JSON_DEPTH: '5',
          GRIDLINE_LIMIT_JSON_MEMBERS: '5000',
          GRIDLINE_LIMIT_COMPRESSION_RATIO: '10',
        },
      }),
    )
    await small.user('alice')
    const { fid } = await small.grid('alice', 'grid', { a: [1] })
    const deep = '[[[[[[1]]]]]]'
    const wide = JSON.stringify(
      Object.fromEntries(Array.from({ length: 6000 }, (_, k) => [`member ${k}`, 1])),
    )
    const upload = (name: string, body: string | Buffer) =>
      small.ask('alice', 'POST', '/v2/grids/upload', { body, headers: { 'x-file-name': name } })
    const answers = {
      depth: await small.ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: JSON.parse(deep) } }),
      string: await small.ask('alice', 'POST', '/v2/grids', {
        json: { data: `{"cols":{"a":{"data":${deep}}}}` },
      }),
      members: await small.ask('alice', 'POST', '/v2/plots', {
        json: { figure: { data: [], layout: JSON.parse(wide) } },
      }),
      lines: await upload('deep.ndjson', `{"a":${deep}}\n`),
      document: await upload('deep.json', `[{"a":${deep}}]`),
      gzip: await upload('zeros.csv.gz', gzipSync(`a\n${'0\n'.repeat(10_000_000)}`)),
    }
    const found = Object.entries(answers).map(([name, { status, text }]) => [
      name,
      status,
      /limit (\w+)/.exec(text)?.[1],
    ])
    expect(found).toEqual([
      ['depth', 400, 'json_depth'],
      ['string', 400, 'json_depth'],
      ['members', 400, 'json_members'],
      ['lines', 400, 'json_depth'],
      ['document', 400, 'json_depth'],
      ['gzip', 400, 'compression_ratio'],
    ])
    await small.service.close()
    place.remove()
  })
})

describe('connections', () => {
  it('a body that arrives too slowly is 408, and its connection is closed', async () => {
    const text = await raw(
      `POST /v2/grids HTTP/1.1\r\nhost: x\r\nauthorization: ${basic('alice')}\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{"data"`,
    )
    expect(text).toContain('408')
    expect(text).toContain('body_bytes_per_second')
  })

  it('a Host header never becomes part of the path', async () => {
    for (const host of ['x/metrics?', 'x/v2/openapi.json#', 'x:80/healthz'])
      expect(await raw(`GET /nowhere HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)).toContain(
        'no such path: /nowhere',
      )
  })

  it('a connection stays usable after a body is refused halfway', async () => {
    const client = new Agent({ keepAlive: true, maxSockets: 1 })
    const send = (method: string, path: string, body = '', type = 'application/json') =>
      new Promise<number>((resolve, reject) => {
        const sent = request(
          {
            port: listening.port,
            agent: client,
            method,
            path,
            headers: { authorization: basic('alice'), 'content-type': type },
          },
          (answer) => {
            answer.resume().on('end', () => resolve(answer.statusCode!))
          },
        )
        sent.on('error', reject)
        sent.end(body)
      })
    for (let k = 0; k < 3; k++) {
      const refused = await send('POST', '/v2/grids', `{"data": [[[${'1,'.repeat(300_000)}`)
      expect(refused).toBe(400)
      expect(await send('GET', '/v2/grids/alice:0')).toBe(200)
    }
    client.destroy()
  })

  it('a connection stays usable after a handler fails while waiting for the rest of a body', async () => {
    const handle = async ({ body }: HttpRequest): Promise<HttpResponse> => {
      if (body === null || body instanceof Uint8Array) return new HttpResponse(200, {}, 'next')
      const iterator = body[Symbol.asyncIterator]()
      await iterator.next()
      iterator.next().catch(() => undefined)
      return new HttpResponse(400, {}, 'refused')
    }
    const served = { handle, refuses: () => false }
    const other = await listen(() => served, { host: '127.0.0.1', port: 0, limits: readLimits() })
    const text = await new Promise<string>((resolve, reject) => {
      const size = 8 * 1024 * 1024
      const socket = connect(other.port, '127.0.0.1', () => {
        socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${size}\r\n\r\nx`)
      })
      let answers = ''
      socket.on('data', (chunk) => {
        if (answers === '') {
          socket.write(Buffer.alloc(size - 1))
          socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
        }
        answers += chunk
      })
      socket.on('error', reject)
      socket.on('close', () => resolve(answers))
    })
    expect(text).toContain('refused')
    expect(text).toContain('next')
    await other.stop(0)
  })

  it('slow small bodies do not occupy request slots', async () => {
    const slow = Array.from({ length: 12 }, () => {
      const socket = connect(listening.port, '127.0.0.1')
      socket.on('error', () => undefined)
      const head = [
        'POST /v2/grids/upload HTTP/1.1',
        'host: x',
        `authorization: ${basic('alice')}`,
        'x-file-name: slow.csv',
        'content-type: text/csv',
        'content-length: 40',
      ]
      socket.write(`${head.join('\r\n')}\r\n\r\na,b\n`)
      return socket
    })
    const began = performance.now()
    const { status } = await test.ask('alice', 'POST', '/v2/grids/upload', {
      body: 'a,b\n1,2\n',
      headers: { 'x-file-name': 'fast.csv' },
    })
    expect([status, performance.now() - began < 900]).toEqual([201, true])
    for (const socket of slow) socket.destroy()
  })

  it('a client whose large body is refused gets the response, also with Connection: close', async () => {
    const answer = await new Promise<{ status?: number; text: string }>((resolve, reject) => {
      const sent = request(
        {
          port: listening.port,
          method: 'POST',
          path: '/v2/files/alice:99/collaborators',
          agent: false,
          headers: { connection: 'close', 'content-type': 'application/json', authorization: basic('alice') },
        },
        async (response) => {
          let text = ''
          for await (const chunk of response) text += chunk
          resolve({ status: response.statusCode, text })
        },
      )
      sent.on('error', reject)
      sent.end(Buffer.alloc(30 * 1024 * 1024, ' '))
    })
    expect([answer.status, JSON.parse(answer.text).errors[0].code]).toEqual([404, 'not_found'])
  })

  it('a client that disconnects during its body does not count as an internal error', async () => {
    const lines: { status: number; error?: string }[] = []
    let said = (): void => {}
    const logged = new Promise<void>((resolve) => {
      said = resolve
    })
    const own = await createService({
      database: `sqlite:${join(folder.path, 'own.db')}`,
      url: URL_OF_TESTS,
      actingAs: 'me',
      environment: {},
      log: (line) => {
        lines.push(line)
        said()
      },
    })
    const other = await listen(() => own, { host: '127.0.0.1', port: 0, limits: readLimits() })
    const socket = connect(other.port, '127.0.0.1', () =>
      socket.write(
        'POST /v2/grids HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{"data"',
        () => socket.resetAndDestroy(),
      ),
    )
    await logged
    expect(lines).toEqual([expect.objectContaining({ status: 499 })])
    expect(lines[0].error).toBeUndefined()
    await other.stop(0)
    await own.close()
  })
})

describe('names', () => {
  it('choosing a free name takes a constant number of queries, and gives unique names', async () => {
    const { store } = test.service
    const names = new Set<string>()
    await store.write([], async (writers) => {
      for (let k = 0; k < 3000; k++)
        await writers.files.add({
          owner: 'bob',
          filetype: 'fold',
          filename: k === 0 ? 'many' : `many (${k})`,
          parent: -1,
        })
    })
    const { findFreeName } = await import('../../../src/service/files/names.ts')
    await store.write([], async (writers) => {
      let queries = 0
      const files = new Proxy(writers.files, {
        get(target, property, receiver) {
          if (property === 'named' || property === 'takenNames') queries++
          const value = Reflect.get(target, property, receiver)
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
      for (let k = 0; k < 20; k++) {
        const name = await findFreeName(files, 'bob', -1, 'many')
        names.add(name)
        await writers.files.add({ owner: 'bob', filetype: 'fold', filename: name, parent: -1 })
      }
      expect(queries / 20).toBeLessThan(8)
    })
    expect(names.size).toBe(20)
    expect(names).toContain('many (3000)')
  })

  it('names of Object.prototype members are not valid header values', async () => {
    for (const header of ['gridline-delimiter', 'gridline-encoding', 'gridline-columns', 'gridline-header'])
      for (const word of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
        const { status, text } = await test.ask('alice', 'POST', '/v2/grids/upload', {
          body: 'a,b\n1,2\n',
          headers: { 'x-file-name': 'w.csv', [header]: word },
        })
        expect([status, text], `${header}: ${word}`).toEqual([400, expect.any(String)])
      }
  })
})
