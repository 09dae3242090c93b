// HTTPS: certificates in files, made ones, changed ones, wrong ones.
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { connect as connectPlain } from 'node:net'
import { join } from 'node:path'
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { prepareSelfSigned } from '../../src/cli/config/self-signed.ts'
import { readLimits } from '../../src/contract/limits.ts'
import { KeyPairWatcher, readKeyPair } from '../../src/service/http/key-pair.ts'
import { startHttpServer } from '../../src/service/http/listen.ts'
import { gridline, serve } from '../support/cli.ts'
import { temporaryFolder } from '../support/service.ts'

/** A certificate of one day in 2020, and its key, which is used for nothing else. */
const EXPIRED_CERT = `-----BEGIN CERTIFICATE-----
MIIBJDCBy6ADAgECAhEAuH54HOhJrIac1LqPiStMyDAKBggqhkjOPQQDAjASMRAw
DgYDVQQDEwdleHBpcmVkMB4XDTIwMDEwMTAwMDAwMFoXDTIwMDEwMjAwMDAwMFow
EjEQMA4GA1UEAxMHZXhwaXJlZDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABBVD
fEEoeykxYkevEeuuN6kRUO/wTCyYsv50juHHKl0+uIn/RJ1GBaGEu7ZedBL3f76w
wRr5x73Mnkt6A61C6g+jAjAAMAoGCCqGSM49BAMCA0gAMEUCIQCb1Kj0zjVTqDSc
9R2FiCkjCtGq74Y/daBC0Eax4zz5+QIgK5MtZ1RKJOK7K/vE+FuLkWPx//OuLhGx
y9854z5YwzI=
-----END CERTIFICATE-----
`
const EXPIRED_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQghQfyeCaAIOeaoqzD
67MvWImykelzk6RSJ8+8nPyBX6mhRANCAAQVQ3xBKHspMWJHrxHrrjepEVDv8Ews
mLL+dI7hxypdPriJ/0SdRgWhhLu2XnQS93++sMEa+ce9zJ5LegOtQuoP
-----END PRIVATE KEY-----
`

const folder = temporaryFolder()
afterAll(folder.remove)
const home = (name: string): string => {
  const path = join(folder.path, name)
  mkdirSync(path, { recursive: true })
  return path
}
const make = (name: string, names = ['localhost', '127.0.0.1']) =>
  prepareSelfSigned({ GRIDLINE_HOME: home(name) }, names)

/** Gets a path over HTTPS. Returns the status. */
const status = (url: string, ca: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    get(url, { ca: readFileSync(ca), agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).on('error', reject)
  })

/** Returns the fingerprint of a server's certificate. */
const fingerprintAt = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      const { fingerprint256 }: PeerCertificate = socket.getPeerCertificate()
      socket.destroy()
      resolve(fingerprint256)
    })
    socket.on('error', reject)
  })

describe('serve --tls self-signed', () => {
  const serverHome = home('server')
  const cert = join(serverHome, 'tls', 'cert.pem')
  let server: Awaited<ReturnType<typeof serve>>
  let key: string
  beforeAll(async () => {
    server = await serve(['--tls', 'self-signed'], { home: serverHome })
    const { stdout } = await gridline(['admin', 'create-user', 'alice', '--json'], { home: serverHome })
    key = JSON.parse(stdout).api_key
  })
  afterAll(() => server.stop())

  it('prints the fingerprint, and how clients trust the certificate', async () => {
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    const certificate = new X509Certificate(readFileSync(cert))
    await vi.waitFor(() => expect(server.log()).toContain('  R: '), { timeout: 60_000 })
    expect(server.log()).toContain(`SHA-256: ${certificate.fingerprint256}`)
    expect(server.log()).toContain(`gridline login ${server.url} --ca-file ${cert}`)
    expect(statSync(join(serverHome, 'tls', 'key.pem')).mode & 0o777).toBe(0o600)
    expect(await status(`${server.url}/healthz`, cert)).toBe(200)
    expect(await status(`${server.url.replace('127.0.0.1', 'localhost')}/healthz`, cert)).toBe(200)
  })

  it('commands log in with the printed line, and refuse a certificate that they do not trust', async () => {
    const login = ['login', server.url, '--user', 'alice']
    const run = (more: string[], name: string) =>
      gridline([...login, ...more], { home: home(name), stdin: `${key}\n` })
    const refused = await run([], 'strangers')
    expect(refused.code).toBe(9)
    expect(refused.stderr).toMatch(/certificate/)
    expect((await run(['--ca-file', cert], 'client')).code).toBe(0)
    const uploaded = await gridline(['upload', '-', '--name', 't', '--json'], {
      home: home('client'),
      stdin: 'a,b\n1,2\n',
    })
    expect(JSON.parse(uploaded.stdout)).toMatchObject([{ web_url: `${server.url}/~alice/0/` }])
    expect((await gridline(['cat', 't'], { home: home('client') })).stdout).toBe('a,b\n1,2\n')
  })

  it('another start uses the same certificate', async () => {
    const before = readFileSync(cert)
    await server.stop()
    server = await serve(['--tls', 'self-signed'], { home: serverHome })
    expect(readFileSync(cert)).toEqual(before)
  })
})

it('a certificate is made again if its key is missing, or it lacks a name', async () => {
  const first = await make('again')
  expect((await make('again')).fingerprint).toBe(first.fingerprint)
  writeFileSync(first.key, 'damaged')
  const second = await make('again')
  expect(second.fingerprint).not.toBe(first.fingerprint)
  const third = await make('again', ['localhost', '127.0.0.1', 'charts.example.com', '2001:db8::1'])
  expect(third.fingerprint).not.toBe(second.fingerprint)
  expect(new X509Certificate(readFileSync(third.cert)).checkHost('charts.example.com')).toBeDefined()
})

it('a changed certificate is used for new connections; a wrong one is not', async () => {
  const [first, second] = [await make('first'), await make('second')]
  const files = { cert: join(folder.path, 'cert.pem'), key: join(folder.path, 'key.pem') }
  const use = ({ cert, key }: typeof files): void => {
    copyFileSync(cert, files.cert)
    copyFileSync(key, files.key)
  }
  use(first)
  const reports: string[] = []
  const report = (text: string): void => void reports.push(text)
  const used: string[] = []
  const setSecureContext = ({ cert }: { cert: Buffer }): void =>
    void used.push(new X509Certificate(cert).fingerprint256)
  const watcher = new KeyPairWatcher(files, { setSecureContext, report })
  watcher.check()
  expect(used).toEqual([])
  // The files are written one after the other: a change counts when both stay as they are.
  copyFileSync(second.cert, files.cert)
  watcher.check()
  use(second)
  watcher.check()
  expect([used, reports]).toEqual([[], []])
  watcher.check()
  watcher.check()
  expect([used, reports]).toEqual([[second.fingerprint], ['read the changed certificate']])
  writeFileSync(files.key, 'x')
  for (let k = 0; k < 3; k++) watcher.check()
  expect(used).toEqual([second.fingerprint])
  expect(reports.at(-1)).toMatch(/^kept the certificate in use: --tls-key .*not a private key in PEM$/)
  expect(reports.length).toBe(2)
  watcher.close()

  use(first)
  const tls = { files, report }
  const server = await startHttpServer(() => undefined, {
    host: '127.0.0.1',
    port: 0,
    limits: readLimits({}),
    tls,
  })
  expect(await fingerprintAt(server.port)).toBe(first.fingerprint)
  expect(await status(`https://127.0.0.1:${server.port}/healthz`, first.cert)).toBe(503)
  await server.stop(0)
})

it('unusable certificates and keys are refused with the reason', async () => {
  const [pair, other] = [await make('pair'), await make('other')]
  const path = (name: string, content: string): string => {
    writeFileSync(join(folder.path, name), content)
    return join(folder.path, name)
  }
  const refusal = (cert: string, key: string): string => {
    try {
      readKeyPair({ cert, key })
      return 'none'
    } catch (error) {
      return (error as Error).message
    }
  }
  expect(refusal(pair.cert, pair.key)).toBe('none')
  expect(refusal(pair.cert, other.key)).toContain('not the key of the certificate')
  expect(refusal(join(folder.path, 'missing'), pair.key)).toContain('--tls-cert')
  expect(refusal(path('text', 'hello'), pair.key)).toContain('not a certificate in PEM')
  expect(refusal(pair.cert, path('text', 'hello'))).toContain('not a private key in PEM')
  const encrypted = '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n'
  expect(refusal(pair.cert, path('encrypted', encrypted))).toContain('the key is encrypted')
  expect(refusal(path('expired', EXPIRED_CERT), path('expired-key', EXPIRED_KEY))).toContain(
    'expired on 2020-01-02',
  )
  const missing = await gridline(['serve', '--tls-cert', pair.cert], { home: home('no-key') })
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('--tls-key is missing')])
  const both = ['serve', '--tls', 'self-signed', '--tls-cert', pair.cert, '--tls-key', pair.key]
  expect((await gridline(both, { home: home('both') })).code).toBe(2)
  chmodSync(pair.key, 0o600)
})

it('a server stops although connections are silent, with and without TLS', async () => {
  const files = await make('silent')
  for (const tls of [undefined, { files, report: () => {} }]) {
    const options = { host: '127.0.0.1', port: 0, limits: readLimits({}), tls }
    const server = await startHttpServer(() => undefined, options)
    const silent = connectPlain({ port: server.port, host: '127.0.0.1' })
    await once(silent, 'connect')
    const closed = once(silent, 'close')
    const began = performance.now()
    await server.stop(10_000)
    await closed
    // Not after the time for running requests, which is 40 s.
    expect(performance.now() - began).toBeLessThan(10_000)
  }
})
