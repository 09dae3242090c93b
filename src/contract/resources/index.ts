/** JSON Schemas of the API resources. docs/api.md describes their fields. */
export * from './accounts.ts'
export * from './copies.ts'
export * from './files.ts'
export * from './grids.ts'
export * from './plots.ts'
export * from './shared.ts'
export * from './sharing.ts'
export * from './versions.ts'
