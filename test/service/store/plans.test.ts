// How SQLite reads lists: by ranges of indexes in the order of the list. It sorts only what pages are merged from, so that a
// page costs the same however many files there are. PostgreSQL counts pages instead, in scale.test.ts.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createService } from '../../../src/service/index.ts'
import { openDatabase } from '../../../src/service/store/engines/sqlite-database.ts'
import { fill, reads } from '../../support/scale.ts'
import { TestService, temporaryFolder, URL_OF_TESTS } from '../../support/service.ts'

interface Step {
  id: number
  parent: number
  detail: string
}

const folder = temporaryFolder()
const file = `${folder.path}/plans.db`
let test: TestService
beforeAll(async () => {
  test = new TestService(
    await createService({ database: `sqlite:${file}`, url: URL_OF_TESTS, environment: {} }),
  )
  for (const user of ['alice', 'bob', 'carol']) await test.user(user)
  await fill(test, 2_000)
  await test.service.store.engine.updateStatistics()
})
afterAll(async () => {
  await test.service.close()
  folder.remove()
})

/** Returns parts of a query plan that sort, or read a whole table. */
function sorted(steps: readonly Step[]): string[] {
  const wrong: string[] = []
  for (const { detail, parent } of steps) {
    const [, table, index = ''] =
      /^(?:SEARCH|SCAN) (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(detail) ?? []
    if (table !== 'files') continue
    // Only few files are being appended to.
    if (index === 'files_appending') continue
    const beside = steps.filter((step) => step.parent === parent)
    if (detail.startsWith('SCAN files') && index === '') wrong.push(detail)
    if (beside.some((step) => step.detail.includes('USE TEMP B-TREE FOR ORDER BY')))
      wrong.push(`${detail}, sorted`)
  }
  return wrong
}

it('lists are read in index order', async () => {
  const seen = new Map<string, string>()
  const database = openDatabase(file)
  const { engine } = test.service.store
  let path = ''
  const note = (text: string): void => {
    if (/\bfiles\b/.test(text) && /^\s*(select|with)/i.test(text)) seen.set(text, path)
  }
  engine.stats.onStatement = note
  try {
    for (const [user, asked] of await reads(test)) {
      path = `${user} ${asked}`
      expect((await test.ask(user, 'GET', asked)).status).toBe(200)
    }
  } finally {
    engine.stats.onStatement = undefined
  }
  const wrong = [...seen].flatMap(([text, asked]) => {
    const steps = database.prepare(`explain query plan ${text}`).all() as unknown as Step[]
    return sorted(steps).map((what) => `${asked}: ${what}`)
  })
  database.close()
  expect(seen.size).toBeGreaterThan(20)
  expect(wrong).toEqual([])
})
