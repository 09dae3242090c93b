/// <reference lib="dom" />
// Replaces the pictures of embed blocks by live charts. Pages of other hosts load it once per block. Where it fails, a
// block stays as it is: a picture with a link.

const NAME = /^([A-Za-z0-9](?:[\w.-]{0,62}\w)?):(\d{1,15})$/
/** Proportions of a chart whose picture is not loaded. */
const USUAL_RATIO = 5 / 7
const MIN_HEIGHT_PIXELS = 240
const MAX_HEIGHT_PIXELS = 10_000

for (const script of document.querySelectorAll<HTMLScriptElement>('script[data-plotly]'))
  replacePicture(script)

/** Returns the link of a block: it is beside the script or above it in the page, and leads to the chart. */
function findLink(script: HTMLScriptElement, path: string): HTMLAnchorElement | undefined {
  const isOf = ({ protocol, pathname, dataset }: HTMLAnchorElement): boolean => {
    if (dataset.gridline !== undefined) return false
    const address = pathname.replace(/%7e/i, '~')
    return protocol.startsWith('http') && `${address}/`.startsWith(`${path}/`)
  }
  const beside = [...(script.parentElement?.querySelectorAll('a') ?? [])].filter(isOf)
  // Some pages have all scripts at their end.
  return (
    beside.at(-1) ?? [...document.querySelectorAll('a')].find((one) => isOf(one) && one.querySelector('img'))
  )
}

/** Replaces the picture of a block as soon as the chart is drawn. */
function replacePicture(script: HTMLScriptElement): void {
  const { plotly = '', gridline } = script.dataset
  const [, owner, id] = NAME.exec(plotly) ?? []
  const base = /^(https?:\/\/.*)\/embed\.js/.exec(script.src)?.[1]
  if (gridline !== undefined || !id || !base) return
  // The script of each block runs for all of them.
  script.dataset.gridline = ''
  const path = `/~${owner}/${id}`
  const link = findLink(script, path)
  if (link) link.dataset.gridline = ''
  const image = link?.querySelector('img')
  const frame = document.createElement('iframe')
  const key = script.getAttribute('sharekey-plotly')
  frame.src = `${base}${path}.embed${key ? `?share_key=${encodeURIComponent(key)}` : ''}`
  frame.title = link?.title || image?.alt || 'Chart'
  frame.loading = 'lazy'
  frame.setAttribute('sandbox', 'allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox')
  frame.style.border = '0'
  // Until the chart is drawn, it is not seen.
  frame.style.position = 'absolute'
  frame.style.visibility = 'hidden'
  const showMissing = (): void => {
    const missing = `${base}/404.png`
    if (image && image.src !== missing) image.src = missing
  }
  if (image?.complete && image.naturalWidth === 0 && image.src) showMissing()
  else image?.addEventListener('error', showMissing)

  /** Height that the chart needs beyond its proportions, in pixels. */
  let needed = 0
  // Inline elements have no width.
  let parent = (link ?? script).parentElement!
  while (parent.clientWidth === 0 && parent.parentElement) parent = parent.parentElement
  const setSize = (): void => {
    const { clientWidth: width } = parent
    const ratio = image?.naturalWidth ? image.naturalHeight / image.naturalWidth : USUAL_RATIO
    const height = Math.max(MIN_HEIGHT_PIXELS, Math.round(width * ratio), needed)
    frame.style.width = frame.style.visibility ? `${width}px` : '100%'
    frame.style.height = `${Math.min(height, MAX_HEIGHT_PIXELS)}px`
  }
  addEventListener('message', ({ data, source }) => {
    if (source !== frame.contentWindow || data?.type !== 'gridline:drawn') return
    if (data.failed) {
      frame.remove()
      return
    }
    needed = data.height > frame.clientHeight ? Number(data.height) : 0
    if (link) link.style.display = 'none'
    frame.style.position = frame.style.visibility = ''
    setSize()
  })
  image?.addEventListener('load', setSize)
  let width = 0
  new ResizeObserver(() => {
    if (parent.clientWidth === width) return
    width = parent.clientWidth
    needed = 0
    setSize()
  }).observe(parent)
  ;(link ?? script).before(frame)
  setSize()
}
