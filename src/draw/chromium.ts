// Starts Chromium, and speaks its DevTools protocol over a pipe: JSON messages that end with a zero byte.
import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js'

type Commands = ProtocolMapping.Commands
type Events = ProtocolMapping.Events
type ParametersOf<C extends keyof Commands> = Commands[C]['paramsType'][0]
type ResultOf<C extends keyof Commands> = Commands[C]['returnType']

/** Maximum duration of a start, in ms. */
const START_TIMEOUT_MS = 30_000
/** Maximum duration of the end, in ms. */
const CLOSE_TIMEOUT_MS = 5000
const OUTPUT_DELAY_MS = 50
/** Number of characters of the error output that are kept. */
const MAX_ERROR_CHARACTERS = 4096

interface Message {
  id?: number
  result?: unknown
  error?: { message: string }
  method?: string
  params?: unknown
  sessionId?: string
}

interface PendingCommand {
  resolve(result: unknown): void
  reject(error: Error): void
}

/** A running Chromium. Emits `closed`. */
export class Browser extends EventEmitter {
  private readonly pending = new Map<number, PendingCommand>()
  private readonly sessions = new Map<string, Session>()
  private lastId = 0
  private isOpen = true
  /** Whether the page with which it starts is unused: its process is ready. */
  private hasFirstPage = true

  private constructor(
    private readonly child: ChildProcess,
    private readonly input: Writable,
    output: Readable,
  ) {
    super()
    this.receive(output)
    // A write to a process that has ended.
    input.on('error', () => this.end())
    child.on('exit', () => this.end())
  }

  /** Starts Chromium. Throws with its error output if it does not start. */
  static async launch(path: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Browser> {
    const child = spawn(path, ['--remote-debugging-pipe', '--headless', ...args, 'about:blank'], {
      env,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    })
    let errors = ''
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      if (errors.length < MAX_ERROR_CHARACTERS) errors += text
    })
    const failed = new Promise<never>((_, reject) => {
      child.on('error', reject)
      child.on('exit', (code, signal) => {
        // The rest of its output comes a moment later. A process that it left behind may keep the output open.
        setTimeout(
          () => reject(new Error(errors.trim() || `it ended with ${signal ?? `code ${code}`}`)),
          OUTPUT_DELAY_MS,
        )
      })
    })
    failed.catch(() => {})
    const browser = new Browser(child, child.stdio[3] as Writable, child.stdio[4] as Readable)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        browser.kill()
        reject(new Error(`it did not answer within ${START_TIMEOUT_MS / 1000} seconds`))
      }, START_TIMEOUT_MS)
    })
    try {
      // The pipe ends shortly before the process, which says why.
      await Promise.race([browser.send('Browser.getVersion').catch(() => failed), failed, late])
      return browser
    } finally {
      clearTimeout(timer)
    }
  }

  get pid(): number | undefined {
    return this.child.pid
  }

  get connected(): boolean {
    return this.isOpen
  }

  /** Sends a command, and returns its result. Throws if Chromium refuses it or ends. */
  send<C extends keyof Commands>(
    method: C,
    params?: ParametersOf<C>,
    sessionId?: string,
  ): Promise<ResultOf<C>> {
    if (!this.isOpen) return Promise.reject(new Error('Chromium has ended'))
    const id = ++this.lastId
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve: resolve as (result: unknown) => void, reject })
      this.input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    })
  }

  /** Opens an empty page. */
  async openPage(): Promise<Session> {
    const targetId = (await this.takeFirstPage()) ?? (await this.createPage())
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true })
    const session = new Session(this, sessionId, targetId)
    this.sessions.set(sessionId, session)
    return session
  }

  private async createPage(): Promise<string> {
    return (await this.send('Target.createTarget', { url: 'about:blank' })).targetId
  }

  /** Returns the id of the page with which Chromium starts, once. */
  private async takeFirstPage(): Promise<string | undefined> {
    if (!this.hasFirstPage) return undefined
    this.hasFirstPage = false
    const { targetInfos } = await this.send('Target.getTargets')
    return targetInfos.find(({ type, url }) => type === 'page' && url === 'about:blank')?.targetId
  }

  kill(): void {
    this.child.kill('SIGKILL')
    // A process that it left behind may keep the pipes open.
    this.child.stderr?.destroy()
    this.end()
  }

  /** Closes Chromium, and waits for its end. */
  async close(): Promise<void> {
    if (!this.isOpen) return
    const ended = new Promise((resolve) => this.once('closed', resolve))
    this.send('Browser.close').catch(() => {})
    const timer = setTimeout(() => this.kill(), CLOSE_TIMEOUT_MS)
    await ended
    clearTimeout(timer)
  }

  private receive(output: Readable): void {
    let parts: Buffer[] = []
    output.on('data', (chunk: Buffer) => {
      let from = 0
      for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, from)) {
        parts.push(chunk.subarray(from, end))
        try {
          this.handle(JSON.parse(Buffer.concat(parts).toString('utf8')))
        } catch {
          // Not a message: this is no Chromium.
          this.kill()
          return
        }
        parts = []
        from = end + 1
      }
      if (from < chunk.length) parts.push(chunk.subarray(from))
    })
    output.on('error', () => this.end())
    output.on('end', () => this.end())
  }

  private handle({ id, result, error, method, params, sessionId }: Message): void {
    if (id !== undefined) {
      const command = this.pending.get(id)
      this.pending.delete(id)
      if (error) command?.reject(new Error(error.message))
      else command?.resolve(result)
    } else if (method === 'Target.detachedFromTarget') {
      const { sessionId: detached } = params as Events[typeof method][0]
      this.sessions.get(detached)?.emit('closed')
      this.sessions.delete(detached)
    } else if (sessionId !== undefined && method !== undefined)
      this.sessions.get(sessionId)?.emit(method, params)
  }

  private end(): void {
    if (!this.isOpen) return
    this.isOpen = false
    for (const { reject } of this.pending.values()) reject(new Error('Chromium has ended'))
    this.pending.clear()
    for (const session of this.sessions.values()) session.emit('closed')
    this.sessions.clear()
    this.emit('closed')
  }
}

/** A page of Chromium. Emits its events, and `closed`. */
export class Session extends EventEmitter {
  /** Id of the global object of the loaded page. */
  private window: string | undefined

  constructor(
    private readonly browser: Browser,
    private readonly id: string,
    private readonly targetId: string,
  ) {
    super()
  }

  send<C extends keyof Commands>(method: C, params?: ParametersOf<C>): Promise<ResultOf<C>> {
    return this.browser.send(method, params, this.id)
  }

  /** Calls `listener` for each event of a kind. */
  listen<E extends keyof Events>(event: E, listener: (params: Events[E][0]) => void): void {
    this.on(event, listener)
  }

  /** Loads a page, and waits until it is complete. */
  async navigate(url: string): Promise<void> {
    await this.send('Page.enable')
    const loaded = new Promise((resolve) => this.once('Page.loadEventFired', resolve))
    this.window = undefined
    const { errorText } = await this.send('Page.navigate', { url })
    if (errorText) throw new Error(errorText)
    await loaded
  }

  /** Calls a function of the page by its name, and waits for its result. Throws what it throws. */
  async call(name: string, ...values: unknown[]): Promise<unknown> {
    this.window ??= (await this.send('Runtime.evaluate', { expression: 'window' })).result.objectId
    const { result, exceptionDetails } = await this.send('Runtime.callFunctionOn', {
      objectId: this.window,
      functionDeclaration: `function (...values) { return this[${JSON.stringify(name)}](...values) }`,
      arguments: values.map((value) => ({ value })),
      awaitPromise: true,
      returnByValue: true,
    })
    if (exceptionDetails) {
      const { exception, text } = exceptionDetails
      throw new Error(exception?.description ?? String(exception?.value ?? text))
    }
    return result.value
  }

  async close(): Promise<void> {
    await this.browser.send('Target.closeTarget', { targetId: this.targetId })
  }
}
