// Draws figures as images, in a child process with Chromium.
import type { ChildProcess } from 'node:child_process'
import { buildPath } from '../contract/build-path.ts'
import { Problem } from '../contract/errors.ts'
import type { DrawRequest, DrawResponse, DrawSettings, ImageOptions } from './messages.ts'

export { chromiumCommand, findChromium } from './find-chromium.ts'
export type { ImageOptions } from './messages.ts'

export interface DrawerOptions {
  /** Maximum memory of Chromium, in bytes. */
  maxMemoryBytes: number
  /** Time limit of one image, in seconds. */
  timeoutSeconds: number
  /** Idle time after which Chromium is closed, in seconds. */
  idleSeconds?: number
  chromium?: string
}

const DEFAULT_IDLE_SECONDS = 60
/** Time limit for starting Chromium and its first page, in ms. */
const START_TIMEOUT_MS = 30_000

interface PendingRequest {
  resolve(response: DrawResponse): void
}

/** Draws figures in a child process that starts on demand and ends when idle. */
export class Drawer {
  private child: ChildProcess | undefined
  private readonly pendingRequests = new Map<number, PendingRequest>()
  private lastId = 0
  private idleTimer: NodeJS.Timeout | undefined

  constructor(private readonly options: DrawerOptions) {}

  /**
   * Draws a figure (JSON text). Throws `bad_figure` if plotly.js cannot draw it within the limits of time and
   * memory, and `no_chromium` if there is no Chromium.
   */
  draw(figure: Uint8Array, options: ImageOptions): Promise<Uint8Array> {
    return this.send(figure, options, false)
  }

  /** Draws a document in HTML, which runs no scripts, as high as its content. Throws as `draw`. */
  drawDocument(html: Uint8Array, options: ImageOptions): Promise<Uint8Array> {
    return this.send(html, options, true)
  }

  private async send(figure: Uint8Array, options: ImageOptions, isDocument: boolean): Promise<Uint8Array> {
    for (let attempt = 1; ; attempt++) {
      const response = await this.sendRequest(figure, options, isDocument)
      if ('image' in response) return response.image
      // Another figure that was drawn at the same time may have crashed Chromium: try once more.
      if (response.failure === 'crashed' && attempt === 1) continue
      throw createProblem(response)
    }
  }

  private sendRequest(figure: Uint8Array, options: ImageOptions, isDocument: boolean): Promise<DrawResponse> {
    const child = (this.child ??= this.startProcess())
    clearTimeout(this.idleTimer)
    const id = ++this.lastId
    const timeout = this.options.timeoutSeconds * 1000
    return new Promise<DrawResponse>((resolve) => {
      // The child process has its own timeout; this one is for a process that hangs.
      const backstop = setTimeout(() => child.kill('SIGKILL'), timeout + START_TIMEOUT_MS)
      this.pendingRequests.set(id, {
        resolve: (response) => {
          clearTimeout(backstop)
          this.pendingRequests.delete(id)
          resolve(response)
          if (this.pendingRequests.size === 0) this.startIdleTimer()
        },
      })
      const request: DrawRequest = { id, figure, isDocument, options, timeoutMs: timeout }
      child.send(request, (error) => {
        if (error) this.pendingRequests.get(id)?.resolve({ id, failure: 'crashed', detail: error.message })
      })
    })
  }

  private startProcess(): ChildProcess {
    const { maxMemoryBytes, chromium } = this.options
    const settings: DrawSettings = { maxMemoryBytes, chromium, assets: buildPath('assets') }
    // Load it with the first image only, because other commands do not need it.
    const { fork } = process.getBuiltinModule('node:child_process')
    const child = fork(buildPath('draw-process.js'), [JSON.stringify(settings)], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
    })
    child.on('message', (response: DrawResponse) => this.pendingRequests.get(response.id)?.resolve(response))
    const failAll = (reason: string): void => {
      if (this.child !== child) return
      this.child = undefined
      for (const [id, { resolve }] of this.pendingRequests)
        resolve({ id, failure: 'crashed', detail: reason })
    }
    child.on('error', (error) => failAll(error.message))
    child.on('exit', () => failAll('the drawing process ended'))
    return child
  }

  /** Ends the child process after the idle time, and lets this process exit before. */
  private startIdleTimer(): void {
    clearTimeout(this.idleTimer)
    this.idleTimer = setTimeout(
      () => this.endProcess(),
      (this.options.idleSeconds ?? DEFAULT_IDLE_SECONDS) * 1000,
    )
    this.idleTimer.unref()
    // An idle process must not keep this one alive.
    this.child?.unref()
    this.child?.channel?.unref()
  }

  private endProcess(): Promise<void> {
    const child = this.child
    this.child = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
    child.ref()
    return new Promise((resolve) => {
      child.once('exit', () => resolve())
      if (child.connected) child.disconnect()
    })
  }

  async close(): Promise<void> {
    clearTimeout(this.idleTimer)
    await this.endProcess()
  }
}

/** Thrown for a figure that cannot be drawn. `isFinal`: a retry cannot succeed. */
export class Undrawable extends Problem {
  constructor(
    detail: string,
    readonly isFinal: boolean,
    hint?: string,
  ) {
    super('bad_figure', `the figure cannot be drawn: ${detail}`, { hint })
  }
}

function createProblem(response: Exclude<DrawResponse, { image: Uint8Array }>): Problem {
  const { failure, detail } = response
  switch (failure) {
    case 'no_browser':
      return new Problem('no_chromium', detail)
    case 'starved':
      return new Problem('overloaded', `the figure cannot be drawn now: ${detail}`)
    case 'too_slow':
    case 'too_large':
      return new Undrawable(detail, true, 'Draw fewer points, or a smaller image.')
    case 'crashed':
      return new Undrawable(`Chromium ended (${detail})`, false)
    case 'undrawable':
      return new Undrawable(detail.replace(/^Error: /, ''), true)
  }
}
