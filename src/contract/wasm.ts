// Loads WebAssembly modules of the build.
import { readFileSync } from 'node:fs'
import { buildPath } from './build-path.ts'

/** Used part of the WebAssembly API, which the types of Node.js 20 do not declare. */
interface Wasm {
  Memory: new (pages: { initial: number; maximum: number }) => { buffer: ArrayBuffer }
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { exports: object }
}
const { WebAssembly } = globalThis as unknown as { WebAssembly?: Wasm }

/** WebAssembly module of the build. It is compiled on first use. */
export class WasmModule<Exports> {
  private module: object | undefined
  private isBroken = WebAssembly === undefined

  constructor(private readonly file: string) {}

  /**
   * Creates an instance with at least `bytes` of memory, which does not grow. Returns undefined if it cannot
   * run: without WebAssembly, without SIMD, or without enough memory.
   */
  createInstance(bytes: number): { exports: Exports; memory: ArrayBuffer } | undefined {
    const module = this.compile()
    if (!module) return undefined
    try {
      const pages = Math.ceil(bytes / 65_536)
      const memory = new WebAssembly!.Memory({ initial: pages, maximum: pages })
      const { exports } = new WebAssembly!.Instance(module, { env: { memory } })
      return { exports: exports as Exports, memory: memory.buffer }
    } catch {
      return undefined
    }
  }

  private compile(): object | undefined {
    if (this.isBroken) return undefined
    try {
      this.module ??= new WebAssembly!.Module(readFileSync(buildPath(this.file)))
    } catch {
      this.isBroken = true
    }
    return this.module
  }
}
