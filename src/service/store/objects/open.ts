// Opens object stores by their addresses.
import { type Environment, notAPlace, type ObjectStore } from './object-store.ts'

/**
 * Opens an object store: `file:DIR` or `s3://bucket/prefix?endpoint=…&region=…`. Throws `usage` for others.
 */
export async function openObjectStore(address: string, environment: Environment): Promise<ObjectStore> {
  if (address.startsWith('file:')) {
    const { FileObjects } = await import('./file-objects.ts')
    return new FileObjects(address)
  }
  if (address.startsWith('s3://')) {
    const { S3Objects } = await import('./s3-objects.ts')
    return S3Objects.open(address, environment)
  }
  throw notAPlace(address, 'not the address of an object store')
}
