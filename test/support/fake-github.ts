// A fake GitHub or GitLab with one pull request.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ForgeComment {
  id: number
  body: string
  user: { login: string; type: string }
  author?: { username: string; bot: boolean }
}

/** Starts a GitHub or GitLab with one pull or merge request and its comments. Only the token `may-comment` may write. */
export async function startForge() {
  const comments: ForgeComment[] = []
  const server = createServer(async (request, response) => {
    const { method = '', headers } = request
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://forge')
    const token = headers.authorization?.replace('Bearer ', '') ?? headers['private-token']
    const answer = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    let text = ''
    for await (const chunk of request) text += chunk
    if (pathname.endsWith('/user')) return answer(403, { message: 'Resource not accessible' })
    if (!/\/(comments|notes)(\/\d+)?$/.test(pathname)) return answer(404, { message: 'Not Found' })
    if (method === 'GET') {
      const page = Number(searchParams.get('page'))
      const size = Number(searchParams.get('per_page'))
      return answer(200, comments.slice((page - 1) * size, page * size))
    }
    if (token !== 'may-comment') return answer(403, { message: 'Resource not accessible by integration' })
    const { body } = JSON.parse(text) as { body: string }
    if (body.length > 65_536)
      return answer(422, { message: 'body is too long (maximum is 65536 characters)' })
    if (method === 'POST') {
      const made = {
        id: comments.length + 1,
        body,
        user: { login: 'github-actions[bot]', type: 'Bot' },
        author: { username: 'project_5_bot', bot: true },
      }
      comments.push(made)
      return answer(201, made)
    }
    const found = comments.find(({ id }) => pathname.endsWith(`/${id}`))
    if (!found || !['PATCH', 'PUT'].includes(method)) return answer(404, { message: 'Not Found' })
    found.body = body
    answer(200, found)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    comments,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
