// Uploads in parts.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, expect, it, vi } from 'vitest'
import { Problem } from '../../../src/contract/errors.ts'
import { ResumableUploads } from '../../../src/service/uploads/resumable.ts'
import { UploadSpool } from '../../../src/service/uploads/upload-spool.ts'
import { onBothStores } from '../../support/service.ts'

const limits = { resumable_uploads: 4, resume_seconds: 120, upload_bytes: 1000 }

afterEach(() => {
  vi.useRealTimers()
})

async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of bytes) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}

it('parts of any size, repeated or cut anywhere, are read as the whole file', async () => {
  const cuts = fc.array(
    fc.record({ size: fc.nat({ max: 40 }), back: fc.nat({ max: 40 }), breaks: fc.boolean() }),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 300 }),
      cuts,
      async (text, parts) => {
        const uploads = new ResumableUploads<string>(limits)
        const { id } = uploads.begin('alice', textOf)
        const upload = uploads.get('alice', id)
        async function* part(from: number, to: number, breaks: boolean): AsyncGenerator<Uint8Array> {
          yield Buffer.from(text.slice(from, to))
          if (breaks) throw new Error('the connection was cut')
        }
        for (const { size, back, breaks } of parts) {
          const from = Math.max(0, upload.received - back)
          const sent = upload.put(from, part(from, upload.received + size, breaks), false)
          if (breaks) await expect(sent).rejects.toThrow('cut')
          else await sent
        }
        const { received } = upload
        expect(await upload.put(received, pieces(text.slice(received)), true)).toBe(text)
        // The response was lost: the part is sent again.
        expect(await upload.put(received, pieces(text.slice(received)), true)).toBe(text)
        uploads.close()
      },
    ),
    { numRuns: 60 },
  )
})

it('an upload continues in another process with the received bytes, for its owner only', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'spool-'))
  try {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme-ascii', minLength: 1 }), fc.nat(), async (text, at) => {
        const first = new ResumableUploads<string>(limits, new UploadSpool(folder))
        const cut = at % text.length
        const { id } = first.begin('alice', textOf, { of: 'alice' })
        await first.get('alice', id).put(0, pieces(text.slice(0, cut)), false)
        first.close()
        const second = new ResumableUploads<string>(limits, new UploadSpool(folder))
        const read = (begun: unknown) => {
          expect(begun).toEqual({ of: 'alice' })
          return textOf
        }
        for (const [user, other] of [
          ['bob', id],
          ['alice', `../${id}`],
          ['alice', id.replace(/.$/, 'x')],
        ])
          await expect(second.find(user, other, read)).rejects.toThrow('no such upload')
        // Two concurrent requests resume it once.
        const [upload, same] = await Promise.all([
          second.find('alice', id, read),
          second.find('alice', id, read),
        ])
        expect([upload.received, same]).toEqual([cut, upload])
        expect(await upload.put(cut, pieces(text.slice(cut)), true)).toBe(text)
        await vi.waitFor(() => expect(readdirSync(folder)).toEqual([]), { timeout: 60_000 })
        second.close()
      }),
      { numRuns: 20 },
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it('a gap, more bytes than the limit, and bytes after the end are refused', async () => {
  const uploads = new ResumableUploads<string>(limits)
  const upload = uploads.begin('alice', textOf)
  await expect(upload.put(1, pieces('x'), false)).rejects.toThrow('expected offset 0, found 1')
  await expect(upload.put(0, pieces('x'.repeat(1001)), false)).rejects.toThrow('upload_bytes')
  expect(await upload.put(0, pieces('abc'), true)).toBe('abc')
  await expect(upload.put(3, pieces('d'), false)).rejects.toThrow('has ended')
  uploads.close()
})

it('a reader error is returned for its part and all later parts', async () => {
  const uploads = new ResumableUploads<string>(limits)
  const upload = uploads.begin('alice', async (bytes) => {
    for await (const _ of bytes) throw new Problem('bad_data', 'line 1 is wrong')
    return ''
  })
  await expect(upload.put(0, pieces('a', 'b', 'c'), false)).rejects.toThrow('line 1 is wrong')
  await expect(upload.put(1, pieces('b'), true)).rejects.toThrow('line 1 is wrong')
  uploads.close()
})

it('an idle upload expires, and its reader gets an error', async () => {
  vi.useFakeTimers()
  const uploads = new ResumableUploads<string>(limits)
  const read = vi.fn(textOf)
  const upload = uploads.begin('alice', read)
  await upload.put(0, pieces('abc'), false)
  vi.advanceTimersByTime(121_000)
  await expect(read.mock.results[0].value).rejects.toThrow('resume_seconds')
  expect(() => uploads.get('alice', upload.id)).toThrow('no such upload')
})

it('a user can open half of the uploads; ended ones do not count', async () => {
  const uploads = new ResumableUploads<string>(limits)
  const first = uploads.begin('alice', textOf)
  uploads.begin('alice', textOf)
  expect(() => uploads.begin('alice', textOf)).toThrow('resumable_uploads')
  expect(uploads.begin('bob', textOf)).toBeDefined()
  await first.put(0, pieces('a'), true)
  expect(uploads.begin('alice', textOf)).toBeDefined()
  uploads.close()
})

it('a later request takes over from a dead connection', async () => {
  const uploads = new ResumableUploads<string>(limits)
  const upload = uploads.begin('alice', textOf)
  let go = (): void => {}
  async function* stuck(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('ab')
    await new Promise<void>((resolve) => {
      go = resolve
    })
    yield Buffer.from('cd')
  }
  const dead = upload.put(0, stuck(), false)
  await vi.waitFor(() => expect(upload.received).toBe(2), { timeout: 60_000 })
  expect(await upload.put(2, pieces('cd'), true)).toBe('abcd')
  go()
  await expect(dead).rejects.toThrow('another request is sending')
  uploads.close()
})

it('taking over loses neither the waiting chunk nor the new one', async () => {
  const uploads = new ResumableUploads<string>(limits)
  let begin = (): void => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  // A reader that is slow to start.
  const upload = uploads.begin('alice', async (bytes) => {
    await begun
    return textOf(bytes)
  })
  async function* slow(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('aaaa')
    yield Buffer.from('xxxx')
  }
  const first = upload.put(0, slow(), true)
  await vi.waitFor(() => expect(upload.received).toBe(4), { timeout: 60_000 })
  const second = upload.put(4, pieces('bbbb', 'cccc'), true)
  begin()
  expect(await second).toBe('aaaabbbbcccc')
  await expect(first).rejects.toThrow('another request is sending')
  uploads.close()
})

it('an earlier request that ends cleanly does not end an upload taken over by a later one', async () => {
  const uploads = new ResumableUploads<string>(limits)
  const upload = uploads.begin('alice', textOf)
  let end = (): void => {}
  async function* stale(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('aa')
    await new Promise<void>((resolve) => {
      end = resolve
    })
  }
  const first = upload.put(0, stale(), true)
  await vi.waitFor(() => expect(upload.received).toBe(2), { timeout: 60_000 })
  await upload.put(2, pieces('bb'), false)
  end()
  await expect(first).rejects.toThrow('another request is sending')
  expect(await upload.put(4, pieces('cc'), true)).toBe('aabbcc')
  uploads.close()
})

it('ended or cancelled uploads do not block others', async () => {
  const uploads = new ResumableUploads<string>(limits)
  for (let k = 0; k < 100; k++) {
    const failing = uploads.begin('alice', async () => {
      throw new Problem('already_exists', 'taken')
    })
    await expect(failing.put(0, pieces('a'), true)).rejects.toThrow('taken')
  }
  expect(uploads.begin('bob', textOf)).toBeDefined()
  let finish = (): void => {}
  const stuck = () =>
    uploads.begin('carol', async (bytes) => {
      await textOf(bytes).catch(() => {})
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      return ''
    })
  for (let k = 0; k < 2; k++) stuck().cancel()
  // Their work still runs, so it counts in total.
  expect(() => [stuck(), stuck()]).toThrow('resumable_uploads')
  finish()
  uploads.close()
})

it('a complete upload cannot be cancelled', async () => {
  const uploads = new ResumableUploads<string>(limits)
  const upload = uploads.begin('alice', textOf)
  expect(await upload.put(0, pieces('a'), true)).toBe('a')
  expect(() => upload.cancel()).toThrow('already complete')
  uploads.close()
})

onBothStores('uploads in parts', (test) => {
  const begin = async (name: string, headers: Record<string, string> = {}, user = 'alice') =>
    test().ask(user, 'POST', '/v2/uploads', { headers: { 'X-File-Name': name, ...headers } })
  const put = async (id: string, offset: number, text: string, last = false, user = 'alice') =>
    test().ask(user, 'PUT', `/v2/uploads/${id}?offset=${offset}${last ? '&last=true' : ''}`, {
      body: text,
      headers: { 'Content-Type': 'application/octet-stream' },
    })

  it('uploads in parts create a grid like a single upload, with its headers', async () => {
    const { status, json } = await begin('parts.csv', { 'Gridline-Source-Tag': 'one' })
    expect([status, json]).toEqual([201, { id: expect.any(String), received: 0 }])
    expect((await put(json.id, 0, 'a,b\n1,x')).json).toEqual({ id: json.id, received: 7 })
    expect((await test().ask('alice', 'GET', `/v2/uploads/${json.id}`)).json.received).toBe(7)
    const done = await put(json.id, 7, 'y\n2,z\n', true)
    expect(done.json).toMatchObject({
      action: 'created',
      received: 13,
      file: { row_count: 2, source_tag: 'one' },
    })
    const { text } = await test().ask('alice', 'GET', `/v2/grids/${done.json.file.fid}/content?format=csv`)
    expect(text).toBe('a,b\n1,xy\n2,z\n')
  })

  it('uploads in parts are accessible only to their owner', async () => {
    const { json } = await begin('mine.csv')
    expect((await put(json.id, 0, 'a\n', false, 'bob')).status).toBe(404)
    expect((await test().ask('bob', 'GET', `/v2/uploads/${json.id}`)).status).toBe(404)
    expect((await test().ask('bob', 'DELETE', `/v2/uploads/${json.id}`)).status).toBe(404)
    expect((await test().ask(undefined, 'POST', '/v2/uploads')).status).toBe(401)
    expect((await test().ask('alice', 'DELETE', `/v2/uploads/${json.id}`)).status).toBe(204)
    expect((await put(json.id, 0, 'a\n')).status).toBe(404)
  })

  it('uploads in parts with the key of an applied upload return its result', async () => {
    const key = { 'Idempotency-Key': 'parts once', 'Gridline-On-Conflict': 'append' }
    const results = []
    for (let k = 0; k < 2; k++) {
      const { json } = await begin('once.csv', key)
      results.push((await put(json.id, 0, 'a\n1\n', true)).json.file)
    }
    expect(results[1].fid).toBe(results[0].fid)
    expect(results[1].row_count).toBe(1)
  })

  it('an If-Match on uploads in parts holds until the grid changes', async () => {
    const tags: unknown[] = []
    const { json } = await test().ask('alice', 'POST', '/v2/grids/upload', {
      body: 'a\n1\n',
      headers: { 'X-File-Name': 'tagged.csv', 'Gridline-Source-Tag': 'sha256:1' },
    })
    const { fid } = json.file
    const tag = async (user = 'alice') =>
      tags.push((await test().ask(user, 'GET', `/v2/files/${fid}`)).json.source_tag)
    await tag()
    await test().ask('alice', 'PATCH', `/v2/files/${fid}`, { json: { world_readable: true } })
    await tag()
    await test().ask('alice', 'POST', '/v2/grids/upload', {
      body: 'a\n1\n',
      headers: {
        'X-File-Name': 'tagged.csv',
        'Gridline-On-Conflict': 'replace',
        'Gridline-Source-Tag': 'sha256:2',
      },
    })
    await tag()
    await tag('bob')
    await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, { json: { rows: [[2]] } })
    await tag()
    expect(tags).toEqual(['sha256:1', null, 'sha256:2', undefined, null])
  })
})
