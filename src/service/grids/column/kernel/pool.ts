// Instances of kernels, which are used again, and the limits of all of them.

/** Maximum size of a text that a kernel reads, and of its memory: slices of all columns of a wide grid. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024
const MAX_MEMORY_BYTES = 64 * 1024 * 1024
/** Maximum number of kernels in use, and their memory. */
const MAX_KERNELS = 16
const MAX_USED_BYTES = 512 * 1024 * 1024
/** Maximum number, and size, of idle kernels for later requests. */
const MAX_IDLE_KERNELS = 2
const MAX_IDLE_BYTES = 32 * 1024 * 1024
/** Minimum number of values of a column for a kernel: its start takes longer than fewer take. */
const MIN_KERNEL_VALUES = 2000

/** Commas after each text: they end the last value, and allow reads of 64 bytes. */
const PADDING = Buffer.alloc(80, ',')
/** Size of the padding, in bytes. */
export const PADDING_BYTES = PADDING.length

let inUse = 0
let usedBytes = 0

/** A WebAssembly instance with its memory. */
interface Kernel {
  /** The whole memory. */
  readonly bytes: Buffer
}

/** Idle kernels of all pools: those released last. */
const idle: { pool: object; kernel: Kernel }[] = []

/** Kernels of one kind. */
export class KernelPool<K extends Kernel> {
  constructor(private readonly create: (bytes: number) => K | undefined) {}

  /** Which grids are read with kernels. Tests set it to compare results. */
  static use: 'never' | 'large' | 'always' = 'large'

  /**
   * Acquires a kernel with `bytes` of memory for texts of up to `maxTextBytes`; undefined if that is too much now.
   * Release it after use.
   */
  acquire(maxTextBytes: number, bytes: number): K | undefined {
    if (inUse >= MAX_KERNELS || usedBytes + bytes > MAX_USED_BYTES) return undefined
    if (maxTextBytes > MAX_TEXT_BYTES || bytes > MAX_MEMORY_BYTES) return undefined
    const index = idle.findIndex(({ pool, kernel }) => pool === this && kernel.bytes.length >= bytes)
    const kernel = index < 0 ? this.create(bytes) : (idle.splice(index, 1)[0].kernel as K)
    if (!kernel) return undefined
    inUse++
    usedBytes += kernel.bytes.length
    return kernel
  }

  release(kernel: K): void {
    inUse--
    usedBytes -= kernel.bytes.length
    if (kernel.bytes.length > MAX_IDLE_BYTES) return
    idle.unshift({ pool: this, kernel })
    idle.length = Math.min(idle.length, MAX_IDLE_KERNELS)
  }
}

/** Returns whether so many values, or rows to reorder, are worth a kernel. */
export function isWorthKernel(count: number, minimum = MIN_KERNEL_VALUES): boolean {
  return KernelPool.use === 'always' || (KernelPool.use === 'large' && count >= minimum)
}

/** Copies a text to an address, with commas after it. */
export function putText({ bytes }: Kernel, at: number, text: Buffer): void {
  text.copy(bytes, at)
  PADDING.copy(bytes, at + text.length)
}
