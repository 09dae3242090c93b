// API keys in the keychain of the system.
import { errorMessageOf, Problem } from '../../contract/errors.ts'

/** Used part of the keychain library. */
interface KeychainLibrary {
  Entry: new (
    service: string,
    account: string,
  ) => {
    getPassword(): string | null
    setPassword(password: string): void
    deletePassword(): unknown
  }
}

const KEYCHAIN_SERVICE = 'gridline'

/**
 * Stores API keys in the system's keychain, by profile and origin of the server. Disabled with GRIDLINE_HOME
 * (all state in one folder), in CI jobs, and with GRIDLINE_KEYCHAIN=off.
 */
export class Keychain {
  constructor(
    private readonly environment: NodeJS.ProcessEnv,
    private readonly load: () => Promise<KeychainLibrary> = () => import('@napi-rs/keyring'),
  ) {}

  /** Stores a key. Returns false if there is no keychain, or it is locked. */
  async set(profile: string, origin: string, key: string): Promise<boolean> {
    try {
      const entry = await this.entry(profile, origin)
      entry?.setPassword(key)
      // Some keychains silently drop entries.
      return entry?.getPassword() === key
    } catch {
      return false
    }
  }

  /** Returns the key. Throws `unauthenticated` if it is missing or the keychain is locked. */
  async get(profile: string, origin: string): Promise<string> {
    const hint = 'Unlock it, or log in again with: gridline login'
    try {
      const key = (await this.entry(profile, origin))?.getPassword()
      if (key) return key
    } catch (error) {
      throw new Problem('unauthenticated', `cannot open the keychain: ${errorMessageOf(error)}`, {
        hint,
      })
    }
    throw new Problem('unauthenticated', `the keychain has no key for profile ${profile}`, { hint })
  }

  /** Deletes the key, if it exists. */
  async delete(profile: string, origin: string): Promise<void> {
    try {
      ;(await this.entry(profile, origin))?.deletePassword()
    } catch {
      // Does not exist.
    }
  }

  private async entry(profile: string, origin: string) {
    const { GRIDLINE_HOME, GRIDLINE_KEYCHAIN, CI } = this.environment
    if (GRIDLINE_HOME || CI || GRIDLINE_KEYCHAIN === 'off') return undefined
    const { Entry } = await this.load()
    return new Entry(KEYCHAIN_SERVICE, `${profile} ${origin}`)
  }
}
