// Opens object stores by their addresses.
import { invalidAddressError, type ObjectStore, type S3Environment } from './object-store.ts'

/**
 * Opens an object store: `file:DIR` or `s3://bucket/prefix?endpoint=…&region=…`. Throws `usage` for others.
 */
export async function openObjectStore(address: string, environment: S3Environment): Promise<ObjectStore> {
  if (address.startsWith('file:')) {
    const { FileObjects } = await import('./file-objects.ts')
    return new FileObjects(address)
  }
  if (address.startsWith('s3://')) {
    const { S3Objects } = await import('./s3-objects.ts')
    return S3Objects.open(address, environment)
  }
  throw invalidAddressError(address, 'not the address of an object store')
}
