import { Problem } from '../../../contract/errors.ts'
import type { Environment, ObjectStore } from './object-store.ts'

/** Opens the store of an address: `file:DIR` or `s3://bucket/prefix?endpoint=…&region=…`. Throws `usage` for any other. */
export async function openObjectStore(address: string, environment: Environment): Promise<ObjectStore> {
  if (address.startsWith('file:')) {
    const { FileObjects } = await import('./file-objects.ts')
    return new FileObjects(address)
  }
  if (address.startsWith('s3://')) {
    const { S3Objects } = await import('./s3-objects.ts')
    return S3Objects.open(address, environment)
  }
  throw new Problem('usage', `--blobs: not a place for bytes: ${address}`, {
    hint: 'Give sql, file:DIR or s3://bucket/prefix?endpoint=https://…&region=…',
  })
}
