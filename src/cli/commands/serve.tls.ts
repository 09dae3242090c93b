// HTTPS of `gridline serve`: its options, its certificate, and how clients trust it.
import { Problem } from '../../contract/errors.ts'
import { quoteShellWord } from '../../contract/shell.ts'
import type { SelfSigned } from '../config/self-signed.ts'
import { normalizeServerUrl } from '../config/settings.ts'

/** Certificate that the server uses. `fingerprint`: of a certificate that this command has made. */
export type Certificate = { cert: string; key: string } & Partial<Pick<SelfSigned, 'fingerprint'>>

/** Files of the options, or that a certificate is made; undefined for HTTP. */
type KeyPairChoice = Pick<Certificate, 'cert' | 'key'> | 'self-signed' | undefined

/** Checks the options of HTTPS. Throws `usage` if they contradict each other or `url`. */
export function readKeyPairOptions({
  tls,
  tlsCert,
  tlsKey,
  url,
}: {
  tls?: 'self-signed'
  tlsCert?: string
  tlsKey?: string
  url?: string
}): KeyPairChoice {
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new Problem('usage', `${tlsCert ? '--tls-key' : '--tls-cert'} is missing: both files are needed`)
  if (tls !== undefined && tlsCert !== undefined)
    throw new Problem('usage', '--tls self-signed makes a certificate: leave out --tls-cert and --tls-key')
  if ((tls ?? tlsCert) !== undefined && url !== undefined && /^http:/i.test(url.trim()))
    throw new Problem('usage', `--url ${url}: this server speaks HTTPS`, {
      hint: 'Use https://…, or leave out the --tls options if a proxy serves HTTPS.',
    })
  return tlsCert !== undefined && tlsKey !== undefined ? { cert: tlsCert, key: tlsKey } : tls
}

/** Returns the files for HTTPS; undefined for HTTP. Makes a certificate for `--tls self-signed`. */
export async function prepareCertificate(
  environment: NodeJS.ProcessEnv,
  { keyPair, host, url }: { keyPair: KeyPairChoice; host: string; url?: string },
): Promise<Certificate | undefined> {
  if (keyPair !== 'self-signed') return keyPair
  const { listServerNames, prepareSelfSigned } = await import('../config/self-signed.ts')
  return prepareSelfSigned(environment, listServerNames(host, url && normalizeServerUrl(url)))
}

/** Returns lines that say how clients trust a self-signed certificate. */
export function formatTrustHints(url: string, { cert, fingerprint }: Certificate): string[] {
  return [
    `  certificate: ${cert}`,
    `  SHA-256: ${fingerprint}`,
    `  Gridline: gridline login ${url} --ca-file ${quoteShellWord(cert)}`,
    `  curl: curl --cacert ${quoteShellWord(cert)} -u USER:KEY ${url}/v2/users/current`,
    `  Python: export REQUESTS_CA_BUNDLE=${quoteShellWord(cert)}`,
    `  R: httr::set_config(httr::config(cainfo = ${JSON.stringify(cert)}))`,
  ]
}
