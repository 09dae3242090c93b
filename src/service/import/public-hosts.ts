// Addresses of other servers that the service may connect to.
import { Problem } from '../../contract/errors.ts'
import { isPublicAddress } from './addresses.ts'

type LookupCallback = (error: Error | null, addresses: { address: string; family: number }[]) => void

const NOT_PUBLIC = 'leads to an IP address that is not public'

/**
 * Allows only http and https, and only public IP addresses. `lookup` checks the address of each actual connection,
 * after name resolution. `field`: names the URL in errors.
 */
export class PublicHosts {
  constructor(
    private readonly field: string,
    private readonly canConnect: (address: string) => boolean = isPublicAddress,
  ) {}

  /** Parses a URL. Throws `invalid_request` unless it is http or https, public and without credentials. */
  parseUrl(text: string): URL {
    if (!URL.canParse(text)) throw this.refused(`not a URL: ${text.slice(0, 200)}`)
    const url = new URL(text)
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw this.refused('must start with http:// or https://')
    if (url.username !== '' || url.password !== '')
      throw this.refused('must not contain a username or password')
    const host = url.hostname.replace(/^\[|\]$/g, '')
    if (process.getBuiltinModule('node:net').isIP(host) > 0 && !this.canConnect(host))
      throw this.refused(NOT_PUBLIC)
    return url
  }

  /** Throws `invalid_request` if the host of a URL is known, and has an address that is not allowed. */
  async check(text: string): Promise<void> {
    const { hostname } = this.parseUrl(text)
    const found = await process
      .getBuiltinModule('node:dns')
      .promises.lookup(hostname.replace(/^\[|\]$/g, ''), { all: true })
      .catch(() => [])
    if (found.some(({ address }) => !this.canConnect(address))) throw this.refused(NOT_PUBLIC)
  }

  /** Resolves a host name. Fails if one of its addresses is not allowed. */
  readonly lookup = (host: string, _options: object, callback: LookupCallback): void => {
    process.getBuiltinModule('node:dns').lookup(host, { all: true }, (error, addresses) => {
      if (error) callback(error, [])
      else if (addresses.every(({ address }) => this.canConnect(address))) callback(null, addresses)
      else callback(this.refused(NOT_PUBLIC), [])
    })
  }

  private refused(why: string): Problem {
    return new Problem('invalid_request', `${this.field}: ${why}`, {
      field: this.field,
      ...(why === NOT_PUBLIC && {
        hint: 'The operator can allow private addresses with: gridline serve --allow-private-urls. Without a server, set GRIDLINE_ALLOW_PRIVATE_URLS=1.',
      }),
    })
  }
}
