import { Problem } from '../../contract/errors.ts'

/** The part of a keychain library that is used. */
interface Library {
  Entry: new (
    service: string,
    account: string,
  ) => {
    getPassword(): string | null
    setPassword(password: string): void
    deletePassword(): unknown
  }
}

const SERVICE = 'gridline'

/**
 * API keys in the keychain of the system: by profile and the server that they are for. It is not used where all
 * state is in one folder (GRIDLINE_HOME), in CI jobs, and with GRIDLINE_KEYCHAIN=off.
 */
export class Keychain {
  constructor(
    private readonly environment: NodeJS.ProcessEnv,
    private readonly load: () => Promise<Library> = () => import('@napi-rs/keyring'),
  ) {}

  /** Keeps a key. Returns false where there is no keychain, or it is locked. */
  async set(profile: string, origin: string, key: string): Promise<boolean> {
    try {
      const entry = await this.entry(profile, origin)
      entry?.setPassword(key)
      // Some keychains accept what they do not keep.
      return entry?.getPassword() === key
    } catch {
      return false
    }
  }

  /** Throws `unauthenticated` if the keychain does not give the key. */
  async get(profile: string, origin: string): Promise<string> {
    const hint = 'Unlock it, or log in again with: gridline login'
    try {
      const key = (await this.entry(profile, origin))?.getPassword()
      if (key) return key
    } catch (error) {
      throw new Problem('unauthenticated', `cannot open the keychain: ${(error as Error).message}`, {
        hint,
      })
    }
    throw new Problem('unauthenticated', `the keychain has no key for profile ${profile}`, { hint })
  }

  async delete(profile: string, origin: string): Promise<void> {
    try {
      ;(await this.entry(profile, origin))?.deletePassword()
    } catch {
      // It is not there.
    }
  }

  private async entry(profile: string, origin: string) {
    const { GRIDLINE_HOME, GRIDLINE_KEYCHAIN, CI } = this.environment
    if (GRIDLINE_HOME || CI || GRIDLINE_KEYCHAIN === 'off') return undefined
    const { Entry } = await this.load()
    return new Entry(SERVICE, `${profile} ${origin}`)
  }
}
