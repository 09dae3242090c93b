// Another implementation of S3 than that of the tests: OpenStack Swift. Runs where it is installed, such as with
// apt-get install swift-proxy swift-account swift-container swift-object.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createService } from '../../src/service/index.ts'
import { S3Objects } from '../../src/service/store/objects/s3-objects.ts'
import { verifyStore } from '../../src/service/store/upkeep/verify.ts'
import { newDatabase } from '../support/postgres.ts'
import { TestService, URL_OF_TESTS } from '../support/service.ts'
import { hasSwift, type Swift, startSwift } from '../support/swift.ts'

describe.skipIf(!hasSwift())('a bucket of Swift (skipped without it)', () => {
  let swift: Swift
  beforeAll(async () => {
    swift = await startSwift()
  })
  afterAll(() => swift?.stop())

  it('a Swift bucket stores, returns and removes values, and refuses unsigned content', async () => {
    const objects = await S3Objects.open(swift.address, swift.environment)
    await objects.checkAccess()
    await expect(objects.put('wrong', Buffer.from('bytes'), '0'.repeat(64))).rejects.toThrow(
      /bucket gridline/,
    )
    expect(await objects.get('wrong')).toBeUndefined()
    const other = await S3Objects.open(swift.address, { ...swift.environment, AWS_SECRET_ACCESS_KEY: 'x' })
    await expect(other.checkAccess()).rejects.toThrow(/AWS_SECRET_ACCESS_KEY is wrong/)
    const none = await S3Objects.open(swift.address.replace('gridline', 'nowhere'), swift.environment)
    await expect(none.checkAccess()).rejects.toThrow(/there is no such bucket/)
  })

  it('a service stores its grids in a Swift bucket', async () => {
    const database = await newDatabase(inject('postgres'))
    const { address: blobs, environment } = swift
    const test = new TestService(
      await createService({ database, url: URL_OF_TESTS, blobs, environment }),
      database,
    )
    await test.user('alice')
    const values = Array.from({ length: 50_000 }, (_, k) => Math.sin(k * 7919))
    const { fid } = await test.grid('alice', 'large', { n: values })
    expect((await test.ask('alice', 'GET', `/v2/grids/${fid}/content`)).json.cols.n.data).toEqual(values)
    await test.ask('alice', 'POST', `/v2/files/${fid}/copy`, { json: {} })
    await test.ask('alice', 'POST', `/v2/files/${fid}/trash`)
    expect(await test.status('alice', 'DELETE', `/v2/files/${fid}/permanent_delete`)).toBe(204)
    await test.service.idle()
    expect((await verifyStore(test.service.store)).damage).toEqual([])
    await test.service.close()
  })
})
