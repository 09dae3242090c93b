// URL import, and addresses that it refuses.
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isPublicAddress } from '../../../src/service/import/addresses.ts'
import { UrlImport } from '../../../src/service/import/fetch.ts'
import { createService } from '../../../src/service/index.ts'
import { xlsx } from '../../support/archives.ts'
import { TestService, temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

describe('addresses that URL import refuses', () => {
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    '64:ff9b::7f00:1',
    'fe80::1%eth0',
    'fd00::1',
    '2002:7f00:1::',
    '2001:db8::1',
    'ff02::1',
    'no address',
  ])('%s', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  it.each(['1.1.1.1', '172.32.0.1', '2606:4700:4700::1111'])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })
})

describe('URL import', () => {
  const folder = temporaryFolder()
  const paths: Record<string, (response: ServerResponse) => void> = {}
  let asked: string[] = []
  let server: Server
  let base: string
  const services: TestService[] = []
  const started = async (urlImport: boolean | UrlImport, environment: Record<string, string> = {}) => {
    const database = `sqlite:${folder.path}/${services.length}.db`
    const running = new TestService(
      await createService({ database, url: URL_OF_TESTS, urlImport, environment }),
    )
    services.push(running)
    await running.user('alice')
    return running
  }
  /** Allows local addresses in place of the public internet. */
  const here = (): UrlImport => new UrlImport((address) => address === '127.0.0.1')
  const make = (service: TestService, source_url: string, more: object = {}, headers = {}) =>
    service.ask('alice', 'POST', '/v2/grids', { json: { source_url, ...more }, headers })

  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(request.url!)
      const answer = paths[request.url!.split('?')[0]]
      if (answer) answer(response)
      else response.writeHead(404).end('gone')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    for (const { service } of services) await service.close()
    folder.remove()
  })

  it('URL import is disabled unless the operator enables it', async () => {
    const { status, json } = await make(await started(false), `${base}/x.csv`)
    expect([status, json.errors[0].hint]).toEqual([403, expect.stringContaining('--allow-url-import')])
    expect(asked).toEqual([])
  })

  it('URL import creates grids from CSV, XLSX and JSON, and records their source URL', async () => {
    const service = await started(here())
    paths['/data/sales%202024.csv'] = (response) => response.end('a,b\n1,x\n')
    const book = await xlsx({ One: [['k'], [1]], Two: [['l'], [2]] })
    paths['/book.xlsx'] = (response) => response.end(book)
    paths['/rows.json'] = (response) => response.end('[{"n": 1}, {"n": 2}]')
    const csv = await make(service, `${base}/data/sales%202024.csv?token=1`, { source_referer: `${base}/` })
    expect([csv.status, csv.json.file.filename, csv.json.file.row_count]).toEqual([201, 'sales 2024', 1])
    expect(csv.json.file.source_url).toBe(`${base}/data/sales%202024.csv?token=1`)
    const sources = await service.ask('alice', 'GET', `/v2/files/${csv.json.file.fid}/sources`)
    expect(sources.json.graph.edges).toEqual([expect.objectContaining({ relation: 'source URL' })])
    expect((await make(service, `${base}/book.xlsx`)).json.file.filetype).toBe('fold')
    expect((await make(service, `${base}/rows.json`, { filename: 'given' })).json.file.filename).toBe('given')
  })

  it('URL import follows redirects to allowed addresses only', async () => {
    const service = await started(here())
    paths['/to'] = (response) => response.writeHead(302, { location: '/found.csv' }).end()
    paths['/found.csv'] = (response) => response.end('a,b\n1,2\n')
    expect((await make(service, `${base}/to`)).json.file.filename).toBe('found')
    const port = base.split(':')[2]
    for (const location of [
      `http://127.0.0.2:${port}/found.csv`,
      `http://[::1]:${port}/found.csv`,
      'file:///etc/passwd',
      `http://user:pass@127.0.0.1:${port}/found.csv`,
    ]) {
      paths['/away'] = (response) => response.writeHead(301, { location }).end()
      asked = []
      const { status, text } = await make(service, `${base}/away`)
      expect([status, asked]).toEqual([400, ['/away']])
      expect(text).not.toContain('root:')
    }
    paths['/round'] = (response) => response.writeHead(307, { location: '/round' }).end()
    expect((await make(service, `${base}/round`)).json.detail).toContain('redirects')
  })

  it('URL import refuses names and addresses of private networks before sending a request', async () => {
    const service = await started(true)
    const port = base.split(':')[2]
    asked = []
    for (const host of ['localhost', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1']) {
      const { status, json } = await make(service, `http://${host}:${port}/found.csv`)
      expect([status, json.detail]).toEqual([400, expect.stringContaining('not public')])
    }
    expect(asked).toEqual([])
  })

  it('URL import of missing, too large or truncated files is 400 and creates nothing', async () => {
    const service = await started(here(), { GRIDLINE_LIMIT_UPLOAD_BYTES: '1000' })
    paths['/large.csv'] = (response) => response.end(`a\n${'1\n'.repeat(1000)}`)
    paths['/endless.csv'] = (response) => {
      response.write(`a,b\n${'1,2\n'.repeat(10)}`)
      response.write('1,2\n'.repeat(500))
    }
    paths['/broken.csv'] = (response) => {
      response.writeHead(200, { 'content-length': '900' })
      response.write('a,b\n1,2\n', () => response.destroy())
    }
    paths['/page.csv'] = (response) => response.writeHead(500).end()
    for (const [path, why] of [
      ['/large.csv', 'upload_bytes'],
      ['/endless.csv', 'upload_bytes'],
      ['/broken.csv', 'could not be fetched'],
      ['/page.csv', 'answered 500'],
      ['/nowhere.csv', 'answered 404'],
    ]) {
      const { status, json } = await make(service, base + path)
      expect([path, status, json.detail]).toEqual([path, 400, expect.stringContaining(why)])
    }
    const home = await service.ask('alice', 'GET', '/v2/folders/home')
    expect(home.json.children.results).toEqual([])
  })

  it('URL import ends after import_seconds at the latest', async () => {
    const service = await started(here(), { GRIDLINE_LIMIT_IMPORT_SECONDS: '1' })
    paths['/slow.csv'] = (response) => response.write('a,b\n1,2\n')
    const { status, json } = await make(service, `${base}/slow.csv`)
    expect([status, json.detail]).toEqual([400, expect.stringContaining('import_seconds')])
  })

  it('URL import is applied once per Idempotency-Key', async () => {
    const service = await started(here())
    paths['/once.csv'] = (response) => response.end('a,b\n1,2\n')
    asked = []
    const headers = { 'idempotency-key': 'import' }
    const [one, two] = [
      await make(service, `${base}/once.csv`, {}, headers),
      await make(service, `${base}/once.csv`, {}, headers),
    ]
    expect([two.json.file.fid, asked.length]).toEqual([one.json.file.fid, 1])
  })
})
