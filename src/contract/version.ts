// The version of the product.
import manifest from '../../package.json' with { type: 'json' }

/** Version of the product, from package.json. */
export const version: string = manifest.version
