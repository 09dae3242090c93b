// Random sequences of requests against a model of the service.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { createService } from '../../src/service/index.ts'
import { verifyStore } from '../../src/service/store/upkeep/verify.ts'
import { Model, PEOPLE, type Plan, type Step, steps } from '../support/model.ts'
import { newDatabase } from '../support/postgres.ts'
import { runs as casesOf } from '../support/property-runs.ts'
import { S3Server } from '../support/s3.ts'
import { TestService, temporaryFolder, URL_OF_TESTS } from '../support/service.ts'

const folder = temporaryFolder()
const services: TestService[] = []
let bucket: S3Server
beforeAll(async () => {
  const options = { url: URL_OF_TESTS, environment: {} }
  for (const database of [`sqlite:${folder.path}/test.db`, await newDatabase(inject('postgres'))])
    services.push(new TestService(await createService({ ...options, database })))
  // Bytes outside of the database, however small.
  bucket = await new S3Server().start()
  for (const blobs of [`file:${folder.path}/blobs`, bucket.address]) {
    const database = await newDatabase(inject('postgres'))
    const service = await createService({
      ...options,
      database,
      blobs,
      maxInlineBytes: 0,
      environment: bucket.environment,
    })
    services.push(new TestService(service))
  }
  // In these stores, files are never updated from their folders; readers check the folders.
  for (const database of [`sqlite:${folder.path}/untold.db`, await newDatabase(inject('postgres'))]) {
    const service = await createService({ ...options, database, maxImmediateFiles: 0 })
    service.store.onJob(() => {})
    services.push(new TestService(service))
  }
})
afterAll(async () => {
  for (const { service } of services) await service.close()
  await bucket.stop()
  folder.remove()
})

const number = fc.nat(1000)
const sequence: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    does: fc.constantFrom(...(Object.keys(steps) as (keyof typeof steps)[])),
    // Mostly the same user, so that later steps can use earlier files.
    who: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(3) }),
    what: number,
    other: number,
    name: number,
    flag: fc.boolean(),
  }),
  { minLength: 1, maxLength: 60, size: 'max' },
)

/** A response without times, and with uids replaced in order of appearance, so that runs can be compared. */
function normal(text: string, uids: Map<string, number>): string {
  return text
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+Z)?/g, 'TIME')
    .replace(/(?<="uid":"|:)[0-9a-f]{6}(?=")/g, (uid) => {
      if (!uids.has(uid)) uids.set(uid, uids.size)
      return `UID${uids.get(uid)}`
    })
    .replace(/"share_key":"[^"]*"/g, '"share_key":"KEY"')
}

let runs = 0

async function follow(sequence: readonly Step[]): Promise<void> {
  const run = runs++
  const model = new Model(run)
  for (const service of services) for (const name of PEOPLE) if (name) await service.user(name + run)
  const uids = services.map(() => new Map<string, number>())
  for (const [k, step] of sequence.entries()) {
    const plan: Plan | undefined = steps[step.does](model, step)
    if (!plan) continue
    const { user, method, request } = plan
    const answers = await Promise.all(
      services.map(async (service, n) => {
        const { path, json } = request(n)
        const headers = { 'gridline-dry-run': 'true' }
        const tried = method === 'GET' ? undefined : await service.ask(user, method, path, { json, headers })
        const done = await service.ask(user, method, path, { json })
        const told = tried && [tried.status, tried.json?.warnings, tried.json?.errors]
        if (told) expect([...told, path]).toEqual([done.status, done.json?.warnings, done.json?.errors, path])
        return done
      }),
    )
    const said = `${k}: ${step.does} as ${user}: ${method} ${request(0).path} ${JSON.stringify(request(0).json)}\n${answers[0].text}`
    expect([answers[0].status, said]).toEqual([plan.status, said])
    const [one, ...others] = answers.map(({ status, text }, n) => `${status} ${normal(text, uids[n])}`)
    for (const other of others) expect([other, said]).toEqual([one, said])
    if (plan.show) expect([plan.show(answers[0].json), said]).toEqual([plan.shown, said])
    plan.learn?.(answers.map(({ json }) => json))
  }
}

/** Asserts that verify finds no damage. */
async function areWhole(): Promise<void> {
  for (const { service } of services) expect((await verifyStore(service.store)).damage).toEqual([])
}

it('the service behaves like the model, byte for byte the same on both stores, at any state of background jobs', async () => {
  const seed = Number(process.env.GRIDLINE_TEST_SEED ?? 20_251_031)
  const numRuns = Number(process.env.GRIDLINE_TEST_RUNS ?? casesOf(5, 200))
  // Without a limit, the search for a shorter sequence could last until the time is up, which would hide the failure.
  const interruptAfterTimeLimit = casesOf(150_000, 1_800_000)
  await fc.assert(fc.asyncProperty(sequence, follow), {
    seed,
    numRuns,
    interruptAfterTimeLimit,
    markInterruptAsFailure: true,
  })
  await areWhole()
})
