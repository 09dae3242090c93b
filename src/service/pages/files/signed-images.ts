/** Signed links to images of plots, for reviews of drafts. See docs/drafts.md. */
import { Problem } from '../../../contract/errors.ts'
import { type Fid, formatFid, formatWebUrl, parseFid } from '../../../contract/fid.ts'
import { ownerPrincipal, type Principal, resolveVisibleFile } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import { loadGridVersions } from '../../plots/versions.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { Readers } from '../../store/store.ts'

const SIGNATURE_PURPOSE = 'image'

/** Parameters of the size of an image. A signature is valid for the default size only. */
const SIZE_PARAMETERS = ['width', 'height', 'scale'] as const

/** Content of a signature: one image of one plot, for some time. */
interface SignedImage {
  fid: string
  /** Draft of the review, and its grid. The link ends with the draft. */
  draft: string
  grid: string
  /** Version in the image: the name of the draft, or the time of the review. */
  version: string
  /** Versions of the plot's grids at the time of the review, by fid, as JSON. */
  grids: string
  /** Hash of the content of a board: its items can become others. */
  content?: string
  until: number
}

/**
 * Creates public links to images of a plot or a board without and with a draft, valid until `until`, in ms since 1970.
 */
export async function signReviewImages(
  service: Service,
  readers: Readers,
  plot: Fid,
  draft: { grid: Fid; name: string; until: number },
): Promise<{ before_url: string; after_url: string }> {
  const { url, cursors } = service
  const file = await readers.files.get(plot.owner, plot.idlocal)
  const isBoard = file?.filetype === 'dashboard'
  const content = isBoard ? await readers.plots.getContent(plot.owner, plot.idlocal) : undefined
  const granted = {
    fid: formatFid(plot),
    ...(content && { content: content.hash }),
    draft: draft.name,
    grid: formatFid(draft.grid),
    grids: await loadGridVersions(readers, plot),
    until: draft.until,
  }
  const sign = async (version: string): Promise<string> => {
    const signature = await cursors.sign({ ...granted, version } satisfies SignedImage, SIGNATURE_PURPOSE)
    const query = new URLSearchParams({ version, signature })
    return `${formatWebUrl(url, plot).replace(/\/$/, '')}.png?${query}`
  }
  return { before_url: await sign(new Date().toISOString()), after_url: await sign(draft.name) }
}

/** Returns the owner of a plot if the query has a valid signature for this image, else the caller. */
export async function resolveSignature(
  { cursors, store }: Service,
  principal: Principal,
  fid: Fid,
  query: URLSearchParams,
): Promise<Principal> {
  const signature = query.get('signature')
  if (signature === null) return principal
  const granted = await cursors.tryVerify<SignedImage>(signature, SIGNATURE_PURPOSE)
  const { version } = principal
  if (granted?.fid !== formatFid(fid) || granted.version !== version || !(granted.until > Date.now()))
    return principal
  if (!(await store.read((readers) => isReviewCurrent(readers, fid, granted)))) return principal
  const size = SIZE_PARAMETERS.find((name) => query.has(name))
  if (size !== undefined)
    throw new Problem('invalid_request', `${size}: cannot be set in a signed link`, { field: size })
  return { ...ownerPrincipal(fid.owner), version, isAborted: principal.isAborted }
}

/** Returns a file, unless it is missing or in the trash. */
async function findActive(readers: Readers, { owner, idlocal }: Fid): Promise<FileRow | undefined> {
  const file = await readers.files.get(owner, idlocal)
  const visible = file && (await resolveVisibleFile(readers, file, ownerPrincipal(owner)))
  return visible?.state === 'active' ? file : undefined
}

/**
 * Returns whether the draft still exists, neither the plot nor its grids are in the trash, and the data of the review is
 * stored.
 */
async function isReviewCurrent(readers: Readers, plot: Fid, granted: SignedImage): Promise<boolean> {
  const file = await findActive(readers, plot)
  if (!file) return false
  if (file.filetype === 'dashboard') {
    const content = await readers.plots.getContent(plot.owner, plot.idlocal)
    if (content?.hash !== granted.content) return false
  }
  const grid = parseFid(granted.grid)
  if (!grid || !(await findActive(readers, grid))) return false
  if (!(await readers.drafts.get(grid.owner, grid.idlocal, granted.draft))) return false
  if (granted.version === granted.draft) return true
  const time = Date.parse(granted.version)
  for (const [text, version] of Object.entries(JSON.parse(granted.grids) as Record<string, number>)) {
    const { owner, idlocal } = parseFid(text)!
    const current = await findActive(readers, { owner, idlocal })
    if (!current) return false
    const row = await readers.versions.findByTime(owner, idlocal, time)
    const present = row?.version ?? current.content_version
    if (present !== version) return false
  }
  return true
}
