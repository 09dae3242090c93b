// Routes: the first template of the contract that a path matches.
import { expect, it } from 'vitest'
import { methodsOf, type Operation, operations, routesOf } from '../../../src/contract/operations/index.ts'
import { OperationRouter } from '../../../src/service/http/route.ts'

const router = new OperationRouter()
const routes = Object.entries(operations).flatMap(([name, operation]: [string, Operation]) =>
  routesOf(operation).flatMap(({ path }) => methodsOf(operation).map((method) => ({ name, method, path }))),
)

it('each route of the contract is found, with its parameters', () => {
  for (const { name, method, path } of routes) {
    const values: Record<string, string> = {}
    const filled = path.replace(/:(\w+)/g, (_, parameter) => {
      values[parameter] = `value of ${parameter}`
      return values[parameter]
    })
    const [route, parameters] = router.find(method, filled)!
    expect([filled, route.name, parameters]).toEqual([filled, name, values])
    // The same from memory.
    expect(router.find(method, filled)![0]).toBe(route)
  }
})

it('fixed segments come before parameters only in the order of the contract, and no parameter is empty', () => {
  expect(router.find('GET', '/v2/files/lookup')![0].name).toBe('files.lookup')
  expect(router.find('GET', '/v2/files/alice:1')![0].name).toBe('files.get')
  for (const path of ['/v2/files/', '/v2/files//path', '/v2/drafts//charts', '/v3', '/v2/files/a/b/c/d/e'])
    expect([path, router.find('GET', path)]).toEqual([path, undefined])
  expect(router.find('BREW', '/v2/files/alice:1')).toBeUndefined()
})
