// Idempotency keys of JSON and streamed bodies.
import { describe, expect, it } from 'vitest'
import { onBothStores, scatter, type TestService } from '../../support/service.ts'

onBothStores('Idempotency-Key', (test) => {
  const ask: TestService['ask'] = (...given) => test().ask(...given)

  it('a write with a key is applied once; a different write with the same key is 422', async () => {
    const headers = { 'idempotency-key': 'once' }
    const json = { figure: scatter([1]), raw_data: 'grid', filename: 'made once' }
    const first = await ask('alice', 'POST', '/v2/plots', { json, headers })
    const again = await ask('alice', 'POST', '/v2/plots', { json, headers })
    expect([again.status, again.json.file.fid]).toEqual([200, first.json.file.fid])
    expect(
      (await ask('alice', 'POST', '/v2/plots', { json: { ...json, filename: 'other' }, headers })).status,
    ).toBe(422)
  })

  it('a repeated change of columns gets the first answer, also if the columns are gone or there meanwhile', async () => {
    const { fid, cols } = await test().grid('alice', 'repeated columns', { a: [1], b: [2] })
    const b = cols.find(({ name }: { name: string }) => name === 'b')
    const path = `/v2/grids/${fid}/col`
    const twice = async (method: string, url: string, json?: object) => {
      const options = { ...(json && { json }), headers: { 'idempotency-key': `${method} ${url}` } }
      const statuses = []
      for (let k = 0; k < 2; k++) statuses.push((await ask('alice', method, url, options)).status)
      return statuses
    }
    const added = { cols: JSON.stringify([{ name: 'c', data: [3] }]) }
    expect(await twice('POST', path, added)).toEqual([201, 201])
    expect(await twice('DELETE', `${path}?uid=${b.uid}`)).toEqual([204, 204])
    // The same change with another key, or without one.
    expect((await ask('alice', 'DELETE', `${path}?uid=${b.uid}`)).status).toBe(400)
    const { json } = await ask('alice', 'GET', `/v2/grids/${fid}/content`)
    expect(Object.keys(json.cols)).toEqual(['a', 'c'])
  })

  it('a repeated upload to a grid has the form of the first answer', async () => {
    await test().grid('alice', 'repeated upload', { a: [1] })
    const headers = {
      'x-file-name': 'repeated upload.csv',
      'gridline-on-conflict': 'append',
      'idempotency-key': 'appending',
    }
    const send = () => ask('alice', 'POST', '/v2/grids/upload', { body: 'a\n5\n', headers })
    const [first, second] = [await send(), await send()]
    expect(first.json.action).toBe('appended')
    expect(Object.keys(second.json).sort()).toEqual(Object.keys(first.json).sort())
    expect(second.json.action).toBe('appended')
  })

  it('an API key is created once and shown once: a retry is 409', async () => {
    const make = () =>
      test().ask('alice', 'POST', '/v2/keys', { json: {}, headers: { 'idempotency-key': 'one' } })
    const before = (await ask('alice', 'GET', '/v2/keys')).json.keys.length
    const [first, second] = [await make(), await make()]
    expect([first.status, second.status]).toEqual([201, 409])
    expect(second.text).not.toContain(first.json.api_key)
    expect((await ask('alice', 'GET', '/v2/keys')).json.keys).toHaveLength(before + 1)
  })

  describe('on streamed bodies', () => {
    const stream = (text: string) =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(Buffer.from(text))
          controller.close()
        },
      })

    it('an upload with the same key and name but different bytes is 422', async () => {
      const send = (body: string, name: string) =>
        test().ask('alice', 'POST', '/v2/grids/upload', {
          body: stream(body),
          headers: { 'x-file-name': name, 'idempotency-key': 'stream' },
        })
      const first = await send('a\n1\n', 'streamed.csv')
      expect(first.status).toBe(201)
      expect((await send('a\n2\n', 'streamed.csv')).status).toBe(422)
      const again = await send('a\n1\n', 'streamed.csv')
      expect([again.status, again.json.file.fid]).toEqual([201, first.json.file.fid])
    })

    it('rows as CSV with the same key but different bytes are 422', async () => {
      const { fid } = await test().grid('alice', 'csv rows', { a: [1] })
      const send = (body: string) =>
        test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
          body: stream(body),
          headers: { 'content-type': 'text/csv', 'idempotency-key': 'csv stream' },
        })
      expect([(await send('a\n5\n')).status, (await send('a\n6\n')).status]).toEqual([201, 422])
      const { json } = await ask('alice', 'GET', `/v2/grids/${fid}/content`)
      expect(json.cols.a.data).toEqual([1, 5])
    })

    it('a different multipart boundary is the same upload; a different file is not', async () => {
      const send = (boundary: string, content: string) =>
        test().ask('alice', 'POST', '/v2/grids/upload', {
          body: `--${boundary}\r\ncontent-disposition: form-data; name="f"; filename="form.csv"\r\n\r\n${content}\r\n--${boundary}--\r\n`,
          headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, 'idempotency-key': 'form' },
        })
      const [one, two] = [await send('xx', 'a\n1\n'), await send('yyy', 'a\n1\n')]
      expect([one.status, two.status, two.json.file.fid]).toEqual([201, 201, one.json.file.fid])
      expect((await send('xx', 'a\n2\n')).status).toBe(422)
    })

    it('a retry of NDJSON gets the first result, even if the columns have changed since', async () => {
      const { fid, cols } = await test().grid('alice', 'lines', { a: [1], b: [2] })
      const send = () =>
        test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
          body: '{"a": 3, "b": 4}\n',
          headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': 'lines' },
        })
      const first = await send()
      await ask('alice', 'DELETE', `/v2/grids/${fid}/col?uid=${cols[1].uid}`)
      const again = await send()
      expect([again.status, again.json.rows_added]).toEqual([first.status, 1])
    })
  })
})
