import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

/** An issuer of identity tokens, as CI systems have: discovery, keys, and GitHub's request URL. */
export async function startIssuer() {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const other = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  let url = ''
  let isDown = false
  let endless: string | undefined
  const token = (
    claims: JWTPayload,
    {
      key = privateKey,
      issued = 0,
      lifetime = 300,
    }: { key?: CryptoKey; issued?: number; lifetime?: number } = {},
  ): Promise<string> => {
    const now = Math.floor(Date.now() / 1000) + issued
    return new SignJWT({ iss: url, jti: randomUUID(), iat: now, exp: now + lifetime, ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .sign(key)
  }
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', url)
    const bodies: Record<string, () => unknown> = {
      '/.well-known/openid-configuration': () => ({ issuer: url, jwks_uri: `${url}/jwks` }),
      '/jwks': () => ({ keys: [jwk] }),
    }
    if (pathname === endless) {
      const send = (): void => {
        while (response.writable && !response.destroyed && response.write(' '.repeat(65_536)));
      }
      response.on('drain', send)
      send()
    } else if (isDown) response.writeHead(500).end()
    else if (pathname === '/github' && request.headers.authorization === 'Bearer request token')
      response.end(
        JSON.stringify({ value: await token({ sub: 'repo:o/r:ref:x', aud: searchParams.get('audience')! }) }),
      )
    else if (bodies[pathname]) response.end(JSON.stringify(bodies[pathname]()))
    else response.writeHead(404).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  return {
    url,
    token,
    otherKey: other.privateKey,
    setDown(down: boolean): void {
      isDown = down
    },
    /** The path whose answer never ends. */
    setEndless(path: string): void {
      endless = path
    },
    stop: () => new Promise((resolve) => server.close(resolve)),
  }
}
