import { Problem } from '../../contract/errors.ts'
import { isUsername } from '../../contract/fid.ts'
import { acceptedBefore, parseRaw } from '../../json/index.ts'
import { findUser, isFormerName, type ListedUser } from '../accounts/accounts.ts'
import { withGrids } from '../plots/figure.ts'
import type { SliceRef } from '../store/aggregates/grids.ts'
import { storedOf } from '../store/aggregates/plots.ts'
import { loadText, storeText } from '../store/aggregates/texts.ts'
import type { Store, Writers } from '../store/store.ts'

/** A figure with the new name in its references, stored and not used yet. */
interface ChangedFigure {
  owner: string
  idlocal: number
  /** The content that was read. */
  before: string
  after: SliceRef
}

/** Throws unless `name` can be the new name of `user`. */
export async function checkNewName(store: Store, user: string, name: string): Promise<void> {
  if (!isUsername(name))
    throw new Problem('invalid_request', `invalid username: ${JSON.stringify(name)}`, {
      hint: 'Use up to 64 letters and digits, with . _ - between them.',
    })
  if (name === user) throw new Problem('already_exists', `the user is already named ${name}`)
  await store.read(async ({ accounts }) => {
    const former = await accounts.formerOwner(name)
    if (former !== undefined && former !== user) throw isFormerName(name, former)
    const taken = await accounts.userLike(name)
    if (taken && taken.owner !== user)
      throw new Problem('already_exists', `a user named ${taken.owner} already exists`, {
        hint: 'Choose another name.',
      })
    // Links with it must not lead to files of somebody else.
    if (await accounts.hasCounter(name))
      throw new Problem('already_exists', `${name} was the name of a user who was deleted`, {
        hint: 'Choose another name.',
      })
  })
}

/**
 * Renames a user: files, keys, sessions, shares and teams stay, and get ids with the new name. The former name stays
 * reserved, and links, keys and scripts with it go on working. Everything changes in one transaction.
 */
export async function renameUser(store: Store, username: string, name: string): Promise<ListedUser> {
  const { username: owner } = await findUser(store, username)
  await checkNewName(store, owner, name)
  for (;;) {
    const figures = await changedFigures(store, owner, name)
    const owners = [owner, name, ...figures.map((figure) => figure.owner)]
    const done = await store.write(owners, async (writers) => {
      if (!(await areUnchanged(writers, owner, figures))) return false
      for (const { owner: by, idlocal, after } of figures) {
        const { media_type } = (await writers.plots.content(by, idlocal))!
        await writers.plots.setContent({ owner: by, idlocal }, after, media_type)
        await writers.files.change(by, idlocal)
      }
      await writers.accounts.renameUser(owner, name)
      return true
    })
    if (done) return findUser(store, name)
  }
}

/** The figures with references to grids of `owner`, with `name` in their place. */
async function changedFigures(store: Store, owner: string, name: string): Promise<ChangedFigure[]> {
  const plots = await store.read(({ accounts }) => accounts.plotsWithGridsOf(owner))
  const changed: ChangedFigure[] = []
  for (const plot of plots) {
    const content = await store.read((readers) => readers.plots.content(plot.owner, plot.idlocal))
    if (!content) continue
    const figure = parseRaw(await loadText(store.blobs, storedOf(content)), 'the figure', acceptedBefore)
    const text = withGrids(figure, (grid) => (grid.owner === owner ? { ...grid, owner: name } : undefined))
    changed.push({ ...plot, before: content.hash, after: await storeText(store.blobs, plot.owner, 1, text) })
  }
  return changed
}

/** Whether the plots with grids of `owner`, and their figures, are those that were read. */
async function areUnchanged(
  { accounts, plots }: Writers,
  owner: string,
  figures: readonly ChangedFigure[],
): Promise<boolean> {
  const now = await accounts.plotsWithGridsOf(owner)
  const keys = new Map(figures.map((figure) => [`${figure.owner}:${figure.idlocal}`, figure.before]))
  for (const plot of now) {
    const content = await plots.content(plot.owner, plot.idlocal)
    if (content && content.hash !== keys.get(`${plot.owner}:${plot.idlocal}`)) return false
  }
  return true
}
