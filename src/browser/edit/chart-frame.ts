/// <reference lib="dom" />
// The frame of a chart: it shows figures that are not stored, and says what is clicked in it.
import type { Figure } from '../../charts/figure/figure.ts'
import type { ChartPart } from '../chart-parts.ts'

/** Listeners of a frame. */
interface FrameListeners {
  /** A part of the chart was clicked. */
  onPart?: (part: ChartPart) => void
  /** The text of a note was moved, relative to its point, in pixels. */
  onMoved?: (moved: { index: number; ax: number; ay: number }) => void
  /** The frame has no chart of its own, and waits for a figure. */
  onReady?: () => void
}

/** A chart in a frame of this server, which runs in an opaque origin. */
export class ChartFrame {
  constructor(
    readonly element: HTMLIFrameElement,
    private readonly isEditable: boolean,
    listeners: FrameListeners = {},
    signal?: AbortSignal,
  ) {
    const receive = ({ source, data }: MessageEvent): void => {
      if (source !== element.contentWindow) return
      if (data?.type === 'gridline:part') listeners.onPart?.(data.part)
      else if (data?.type === 'gridline:moved') listeners.onMoved?.(data)
      else if (data?.type === 'gridline:ready') listeners.onReady?.()
    }
    addEventListener('message', receive, { signal })
  }

  /** Shows a figure with its data; undefined: the stored chart. `scheme`: undefined for that of the page. */
  show(figure: Figure | undefined, scheme?: string): void {
    const { isEditable } = this
    const text = figure ? JSON.stringify(figure) : null
    this.element.contentWindow?.postMessage({ type: 'gridline:show', figure: text, scheme, isEditable }, '*')
  }
}
