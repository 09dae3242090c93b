import type { Client } from '../client/index.ts'
import { type Connection, connect } from './connect.ts'
import { Messages } from './output/messages.ts'
import {
  type ConfigFile,
  ConfigStore,
  places,
  resolveSettings,
  type Setting,
  type SettingName,
} from './settings.ts'

export interface GlobalFlags {
  json?: string | true
  jq?: string
  quiet?: boolean
  profile?: string
}

/** What a command works with. Costly parts are made when first asked for. */
export class Context {
  readonly config: ConfigStore
  readonly messages: Messages
  private connection: Promise<Connection> | undefined

  constructor(
    readonly environment: NodeJS.ProcessEnv,
    readonly flags: GlobalFlags,
  ) {
    this.config = new ConfigStore(places(environment).config)
    this.messages = new Messages(
      flags.quiet === true,
      flags.json !== undefined || flags.jq !== undefined,
      environment,
    )
  }

  async settings(): Promise<Record<SettingName, Setting>> {
    const file: ConfigFile = await this.config.read()
    return resolveSettings(file, this.environment, this.flags)
  }

  connect(): Promise<Connection> {
    this.connection ??= this.settings().then((settings) =>
      connect(settings, this.environment, (problem, wait) =>
        this.messages.aside(`${problem.message}; trying again in ${wait / 1000} s`),
      ),
    )
    return this.connection
  }

  async client(): Promise<Client> {
    return (await this.connect()).client
  }

  async close(): Promise<void> {
    const connection = await this.connection?.catch(() => undefined)
    await connection?.close()
  }
}
