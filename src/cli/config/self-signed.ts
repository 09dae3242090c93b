// Makes a certificate for `gridline serve --tls self-signed`.
import { createPrivateKey, webcrypto, X509Certificate } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync } from 'node:fs'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { writePrivateFile } from './private-file.ts'
import { directoriesOf } from './settings.ts'

const DAY_MS = 24 * 3600 * 1000
/** Validity of a certificate. Some clients accept no longer ones. */
const VALID_DAYS = 397
/** A certificate that expires sooner is made again. */
const MIN_DAYS_LEFT = 30

/** Names that a certificate can have. */
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/

/** Certificate and key, in files. */
export interface SelfSigned {
  cert: string
  key: string
  /** SHA-256 of the certificate, in hexadecimal bytes with colons. */
  fingerprint: string
}

/** Returns the names of a server that listens on `host` and has the URL `url`: host names and IP addresses. */
export function listServerNames(host: string, url: string | undefined): string[] {
  const isAny = host === '0.0.0.0' || host === '::'
  const names = ['localhost', '127.0.0.1', '::1', hostname(), ...(isAny ? [] : [host])]
  if (url !== undefined) names.push(new URL(url).hostname.replace(/^\[|\]$/g, ''))
  // Certificates have no zones, and IPv4 addresses in their own form.
  const plain = names.map((name) =>
    name
      .toLowerCase()
      .replace(/%.*$/, '')
      .replace(/^::ffff:(?=\d+\.)/, ''),
  )
  return [...new Set(plain)].filter((name) => isIP(name) > 0 || HOST_NAME.test(name))
}

/** Returns the certificate in the data directory, and makes a new one if it is missing, expires soon or lacks a name. */
export async function prepareSelfSigned(
  environment: NodeJS.ProcessEnv,
  names: readonly string[],
): Promise<SelfSigned> {
  const folder = join(directoriesOf(environment).data, 'tls')
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  const usable = readUsable(files, names)
  if (usable) return { ...files, fingerprint: usable.fingerprint256 }
  const { cert, key } = await createCertificate(names)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writePrivateFile(`${files.key}.new`, key)
  writePrivateFile(`${files.cert}.new`, cert)
  // If the process ends in between, the pair does not match, and the next start makes another one.
  renameSync(`${files.key}.new`, files.key)
  renameSync(`${files.cert}.new`, files.cert)
  return { ...files, fingerprint: new X509Certificate(cert).fingerprint256 }
}

function readUsable(
  files: { cert: string; key: string },
  names: readonly string[],
): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(readFileSync(files.cert))
    const isMatching = certificate.checkPrivateKey(createPrivateKey(readFileSync(files.key)))
    const daysLeft = (new Date(certificate.validTo).getTime() - Date.now()) / DAY_MS
    const hasNames = names.every((name) =>
      isIP(name) > 0 ? certificate.checkIP(name) : certificate.checkHost(name),
    )
    return isMatching && hasNames && daysLeft > MIN_DAYS_LEFT ? certificate : undefined
  } catch {
    // Missing or damaged.
    return undefined
  }
}

/** Creates a certificate that signs itself, and its key, in PEM. Clients trust it as its own authority. */
async function createCertificate(names: readonly string[]): Promise<{ cert: string; key: string }> {
  const x509 = await import('../../vendor/x509.ts')
  x509.cryptoProvider.set(webcrypto as never)
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const now = Date.now()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=Gridline',
    notBefore: new Date(now - DAY_MS),
    notAfter: new Date(now + VALID_DAYS * DAY_MS),
    signingAlgorithm: algorithm,
    keys: keys as never,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyCertSign, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((name) => ({ type: isIP(name) > 0 ? ('ip' as const) : ('dns' as const), value: name })),
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey as never),
      await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey as never),
    ],
  })
  const exported = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey))
  const key = createPrivateKey({ key: exported, format: 'der', type: 'pkcs8' })
  return {
    cert: `${certificate.toString('pem')}\n`,
    key: key.export({ format: 'pem', type: 'pkcs8' }).toString(),
  }
}
