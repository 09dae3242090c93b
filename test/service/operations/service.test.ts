// Health, readiness and OpenAPI.
import { expect, it } from 'vitest'
import { operations } from '../../../src/contract/operations/index.ts'
import { onBothStores } from '../../support/service.ts'

onBothStores('operations of the service itself', (test) => {
  it('the service has healthz, readyz and an OpenAPI document with every operation', async () => {
    expect((await test().ask(undefined, 'GET', '/healthz')).json).toEqual({ status: 'ok' })
    expect((await test().ask(undefined, 'GET', '/readyz')).json).toEqual({ status: 'ok' })
    const { json } = await test().ask(undefined, 'GET', '/v2/openapi.json')
    expect(json.openapi).toBe('3.1.0')
    expect(json.paths['/v2/grids/{fid}/row'].post.operationId).toBe('rowsAppend')
    expect(json.components.schemas.PlotCreate.required).toEqual(['figure'])
    const described = Object.values(json.paths).flatMap((path) => Object.values(path as object))
    const ids = described.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toHaveLength(Object.keys(operations).length)
  })
})
