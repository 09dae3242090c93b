// Renames users, and replaces their name in the figures of other users.
import { Problem } from '../../contract/errors.ts'
import { isUsername } from '../../contract/fid.ts'
import { findUser, formerNameTaken, type ListedUser } from '../accounts/accounts.ts'
import { replaceGrids } from '../plots/edit-figure.ts'
import { loadFigure } from '../plots/store-figure.ts'
import type { SliceRef } from '../store/aggregates/grids.ts'
import { storeCompressed } from '../store/aggregates/slice-json.ts'
import type { Store, Writers } from '../store/store.ts'

/** Figure with the new name in its references, stored but not yet in use. */
interface ChangedFigure {
  owner: string
  idlocal: number
  /** Content hash of the figure as it was read. */
  before: string
  after: SliceRef
}

/** Throws unless `user` can be renamed to `name`. */
export async function checkNewUsername(store: Store, user: string, name: string): Promise<void> {
  if (!isUsername(name))
    throw new Problem('invalid_request', `invalid username: ${JSON.stringify(name)}`, {
      hint: 'Use up to 64 letters and digits, with . _ - between them.',
    })
  if (name === user) throw new Problem('already_exists', `the user is already named ${name}`)
  await store.read(async ({ accounts }) => {
    const former = await accounts.findFormerOwner(name)
    if (former !== undefined && former !== user) throw formerNameTaken(name, former)
    const existing = await accounts.findUserByName(name)
    if (existing && existing.owner !== user)
      throw new Problem('already_exists', `a user named ${existing.owner} already exists`, {
        hint: 'Choose another name.',
      })
    // Links with the name must not lead to files of another user.
    if (await accounts.hasCounter(name))
      throw new Problem('already_exists', `${name} was the name of a user who was deleted`, {
        hint: 'Choose another name.',
      })
  })
}

/** Maximum number of attempts while figures with grids of the user change. */
const MAX_ATTEMPTS = 10

/**
 * Renames a user in one transaction. Files, keys, sessions, shares and teams get the new name in their ids.
 * The former name stays reserved: links, keys and scripts with it keep working.
 * Throws `overloaded` if plots with grids of the user keep changing.
 */
export async function renameUser(store: Store, username: string, name: string): Promise<ListedUser> {
  const { username: owner } = await findUser(store, username)
  await checkNewUsername(store, owner, name)
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const figures = await storeRenamedFigures(store, owner, name)
    const owners = [owner, name, ...figures.map((figure) => figure.owner)]
    const isRenamed = await store.write(owners, async (writers) => {
      if (!(await hasSameFigures(writers, owner, figures))) return false
      for (const { owner: plotOwner, idlocal, after } of figures) {
        const { media_type } = (await writers.plots.getContent(plotOwner, idlocal))!
        await writers.plots.setContent({ owner: plotOwner, idlocal }, after, media_type)
        await writers.files.change(plotOwner, idlocal)
      }
      await writers.accounts.renameUser(owner, name)
      return true
    })
    if (isRenamed) return findUser(store, name)
  }
  throw new Problem('overloaded', `plots that use grids of ${owner} keep changing`, {
    hint: 'Try again later.',
  })
}

/** Stores new figures for all plots that refer to grids of `owner`, with `name` instead. */
async function storeRenamedFigures(store: Store, owner: string, name: string): Promise<ChangedFigure[]> {
  const plots = await store.read(({ accounts }) => accounts.listPlotsUsingGridsOf(owner))
  const changed: ChangedFigure[] = []
  for (const plot of plots) {
    const content = await store.read((readers) => readers.plots.getContent(plot.owner, plot.idlocal))
    if (!content) continue
    const figure = await loadFigure(store, content)
    const text = replaceGrids(figure, (grid) => (grid.owner === owner ? { ...grid, owner: name } : undefined))
    changed.push({
      ...plot,
      before: content.hash,
      after: await storeCompressed(store.blobs, plot.owner, 1, text),
    })
  }
  return changed
}

/** Returns whether the plots with grids of `owner` still have the figures that were read. */
async function hasSameFigures(
  { accounts, plots }: Writers,
  owner: string,
  figures: readonly ChangedFigure[],
): Promise<boolean> {
  const current = await accounts.listPlotsUsingGridsOf(owner)
  const keys = new Map(figures.map((figure) => [`${figure.owner}:${figure.idlocal}`, figure.before]))
  for (const plot of current) {
    const content = await plots.getContent(plot.owner, plot.idlocal)
    if (content && content.hash !== keys.get(`${plot.owner}:${plot.idlocal}`)) return false
  }
  return true
}
