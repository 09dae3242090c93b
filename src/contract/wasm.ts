import { readFileSync } from 'node:fs'
import { built } from './built.ts'

/** What is used of the API; the types of Node.js 20 do not declare it. */
interface Wasm {
  Memory: new (pages: { initial: number; maximum: number }) => { buffer: ArrayBuffer }
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { exports: object }
}
const { WebAssembly } = globalThis as unknown as { WebAssembly?: Wasm }

/** A module of the build that is compiled when it is first needed. */
export class WasmModule<Exports> {
  private module: object | undefined
  private isBroken = WebAssembly === undefined

  constructor(private readonly file: string) {}

  /**
   * An instance with at least this memory, which does not grow; undefined where it cannot run: without WebAssembly or
   * its SIMD, or without room for the memory.
   */
  instance(bytes: number): { exports: Exports; memory: ArrayBuffer } | undefined {
    const module = this.compiled()
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

  private compiled(): object | undefined {
    if (this.isBroken) return undefined
    try {
      this.module ??= new WebAssembly!.Module(readFileSync(built(this.file)))
    } catch {
      this.isBroken = true
    }
    return this.module
  }
}
