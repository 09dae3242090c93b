/** Links of images that need no key: those of the charts of a draft, for reviews. See docs/drafts.md. */
import { type Fid, formatFid, webUrl } from '../../../contract/fid.ts'
import { asOwner, type Principal } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'

const PURPOSE = 'image'

/** One image of one plot, for some time. */
interface Granted {
  fid: string
  /** The draft whose data it shows; absent: the present data. */
  version?: string
  until: number
}

/** A link to the image of a plot that works for anyone until `until`, in ms since 1970. */
export async function signedImageUrl(
  { url, cursors }: Service,
  plot: Fid,
  version: string | undefined,
  until: number,
): Promise<string> {
  const granted: Granted = { fid: formatFid(plot), version, until }
  const query = new URLSearchParams({
    ...(version !== undefined && { version }),
    signature: await cursors.sign(granted, PURPOSE),
  })
  return `${webUrl(url, plot).replace(/\/$/, '')}.png?${query}`
}

/** Who asks for an image: with a signature for exactly this image, its owner. */
export async function signedPrincipal(
  { cursors }: Service,
  principal: Principal,
  fid: Fid,
  signature: string | null,
): Promise<Principal> {
  if (signature === null) return principal
  const granted = await cursors.valueOf<Granted>(signature, PURPOSE)
  const { version } = principal
  const isValid = granted?.fid === formatFid(fid) && granted.version === version && granted.until > Date.now()
  return isValid ? { ...asOwner(fid.owner), version } : principal
}
