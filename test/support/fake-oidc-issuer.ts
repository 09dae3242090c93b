// A fake issuer of identity tokens, and OpenID Connect provider.
import { createHash, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

/** Starts an issuer like that of CI systems: discovery, keys, and GitHub's request URL. */
export async function startIssuer() {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const other = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  let url = ''
  let isDown = false
  let endless: string | undefined
  let broken: { path: string; how: 'cut' | 'html' } | undefined
  let userinfo: object | undefined
  let signing: { key?: CryptoKey; issued?: number } = {}
  let subject: string | undefined
  /** Authorization codes of signed-in users, with their requests. */
  const codes = new Map<string, { challenge: string; nonce: string; claims: JWTPayload }>()
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
      '/.well-known/openid-configuration': () => ({
        issuer: url,
        jwks_uri: `${url}/jwks`,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        userinfo_endpoint: `${url}/userinfo`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        code_challenge_methods_supported: ['S256'],
      }),
      '/jwks': () => ({ keys: [jwk] }),
    }
    if (pathname === broken?.path) {
      response.writeHead(200, { 'content-type': broken.how === 'html' ? 'text/html' : 'application/json' })
      response.write('<p>')
      if (broken.how === 'html') response.end()
      else response.destroy()
    } else if (pathname === endless) {
      const send = (): void => {
        while (response.writable && !response.destroyed && response.write(' '.repeat(65_536)));
      }
      response.on('drain', send)
      send()
    } else if (isDown) response.writeHead(500).end()
    else if (pathname === '/token') {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      const form = new URLSearchParams(Buffer.concat(parts).toString())
      const code = form.get('code') ?? ''
      const asked = codes.get(code)
      codes.delete(code)
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url')
      response.setHeader('content-type', 'application/json')
      if (!asked || asked.challenge !== challenge || form.get('client_secret') !== 'the secret')
        response.writeHead(400).end(JSON.stringify({ error: 'invalid_grant' }))
      else {
        const id_token = await token({ aud: 'gridline', nonce: asked.nonce, ...asked.claims }, signing)
        subject = asked.claims.sub
        response.end(JSON.stringify({ access_token: 'a', token_type: 'bearer', expires_in: 60, id_token }))
      }
    } else if (pathname === '/github' && request.headers.authorization === 'Bearer request token')
      response.end(
        JSON.stringify({ value: await token({ sub: 'repo:o/r:ref:x', aud: searchParams.get('audience')! }) }),
      )
    else if (pathname === '/userinfo') {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ sub: subject, ...userinfo }))
    } else if (bodies[pathname]) response.end(JSON.stringify(bodies[pathname]()))
    else response.writeHead(404).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  return {
    url,
    token,
    otherKey: other.privateKey,
    /** Signs a user in like the provider's page. Returns the redirect URI. */
    approve(authorization: string, claims: JWTPayload): string {
      const asked = new URL(authorization).searchParams
      const code = randomUUID()
      codes.set(code, { challenge: asked.get('code_challenge')!, nonce: asked.get('nonce')!, claims })
      return `${asked.get('redirect_uri')}?${new URLSearchParams({ code, state: asked.get('state')! })}`
    },
    setDown(down: boolean): void {
      isDown = down
    },
    /** Claims of the userinfo endpoint. */
    setUserinfo(claims: object | undefined): void {
      userinfo = claims
    },
    /** The key that signs the next tokens of users. */
    setSigning(options: { key?: CryptoKey; issued?: number }): void {
      signing = options
    },
    /** The path whose response is a page, or is cut. */
    setBroken(fault: typeof broken): void {
      broken = fault
    },
    /** The path whose response never ends. */
    setEndless(path: string): void {
      endless = path
    },
    stop: () => new Promise((resolve) => server.close(resolve)),
  }
}
