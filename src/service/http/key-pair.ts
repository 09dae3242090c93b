// Certificate and private key of an HTTPS server: read from files, and again when these change.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { errorCodeOf, errorMessageOf, Problem } from '../../contract/errors.ts'

/** Files in PEM: a certificate, with the certificates of its issuers after it, and its private key. */
export interface KeyPairFiles {
  cert: string
  key: string
}

export interface KeyPair {
  cert: Buffer
  key: Buffer
}

/** Interval of the checks for changed files, in ms. */
const CHECK_INTERVAL_MS = 5_000

function readPem(option: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    const reasons: Record<string, string> = { ENOENT: 'no such file', EACCES: 'permission denied' }
    throw new Problem('usage', `${option} ${file}: ${reasons[errorCodeOf(error)] ?? errorMessageOf(error)}`)
  }
}

function parseCertificate(bytes: Buffer, file: string): X509Certificate {
  try {
    return new X509Certificate(bytes)
  } catch {
    throw new Problem('usage', `--tls-cert ${file}: not a certificate in PEM`)
  }
}

function parseKey(bytes: Buffer, file: string): KeyObject {
  try {
    return createPrivateKey(bytes)
  } catch {
    const isEncrypted = /ENCRYPTED/.test(bytes.toString('latin1', 0, 4096))
    throw new Problem(
      'usage',
      `--tls-key ${file}: ${isEncrypted ? 'the key is encrypted' : 'not a private key in PEM'}`,
      isEncrypted ? { hint: `Write it without a passphrase: openssl pkey -in ${file} -out KEY` } : {},
    )
  }
}

/** Reads a key pair. Throws `usage` if it cannot be read, does not match, or the certificate has expired. */
export function readKeyPair({ cert: certFile, key: keyFile }: KeyPairFiles): KeyPair {
  const cert = readPem('--tls-cert', certFile)
  const key = readPem('--tls-key', keyFile)
  const certificate = parseCertificate(cert, certFile)
  if (!certificate.checkPrivateKey(parseKey(key, keyFile)))
    throw new Problem('usage', `--tls-key ${keyFile}: not the key of the certificate ${certFile}`)
  const end = new Date(certificate.validTo)
  if (end.getTime() < Date.now())
    throw new Problem('usage', `--tls-cert ${certFile}: expired on ${end.toISOString().slice(0, 10)}`, {
      hint: 'Renew the certificate.',
    })
  return { cert, key }
}

/** Where a key pair is used, and where its changes are reported. */
export interface KeyPairUser {
  setSecureContext(pair: KeyPair): void
  /** Reports a change, or why the changed files are not used. */
  report(message: string): void
}

/** Passes on a key pair whenever its files have changed. */
export class KeyPairWatcher {
  private used: string
  private seen: string
  private readonly timer = setInterval(() => this.check(), CHECK_INTERVAL_MS).unref()

  constructor(
    private readonly files: KeyPairFiles,
    private readonly user: KeyPairUser,
  ) {
    this.used = this.state()
    this.seen = this.used
  }

  /** Reads changed files, if they have not changed since the last check: they are written one after the other. */
  check(): void {
    const state = this.state()
    const isStable = state === this.seen
    this.seen = state
    if (!isStable || state === this.used) return
    this.used = state
    try {
      this.user.setSecureContext(readKeyPair(this.files))
      this.user.report('read the changed certificate')
    } catch (error) {
      this.user.report(`kept the certificate in use: ${errorMessageOf(error)}`)
    }
  }

  close(): void {
    clearInterval(this.timer)
  }

  private state(): string {
    const stateOf = (file: string): string => {
      const found = statSync(file, { throwIfNoEntry: false })
      return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : 'missing'
    }
    return `${stateOf(this.files.cert)}, ${stateOf(this.files.key)}`
  }
}
