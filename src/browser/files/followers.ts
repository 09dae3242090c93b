/// <reference lib="dom" />
// What follows files: charts, derived grids and boards, which a change of the files breaks.
import { call } from '../api.ts'
import { create, type OpenDialog } from '../dom.ts'

/** A file on the page. */
export interface PageFile {
  fid: string
  name: string
  type: string
  owner: string
}

/** Files that follow another one, by relation: who they are, and what happens to them while it is in the trash, and later. */
const FOLLOWERS = {
  'created plots': {
    who: 'charts use',
    meanwhile: 'and are empty until it is restored',
    after: 'and stay empty',
  },
  'derived grids': {
    who: 'grids are derived from',
    meanwhile: 'and keep their content until it is restored',
    after: 'and cannot follow any more',
  },
  boards: {
    who: 'boards show',
    meanwhile: 'and leave it out until it is restored',
    after: 'and leave it out from then on',
  },
} as const

/** Id of followers that are not listed. */
const MORE = ''

/** Lists what follows a file, with an entry for those beyond the first. */
async function listFollowers({
  fid,
  type,
}: PageFile): Promise<{ relation: string; fid: string; name: string }[]> {
  if (type !== 'grid' && type !== 'plot') return []
  const { graph } = await call('files.sources', { path: { fid } })
  return graph.edges.map(({ relation, target }) => {
    const { label, metadata } = graph.nodes[target]
    // Others are links to more.
    return metadata?.filetype === undefined
      ? { relation, fid: MORE, name: 'and more' }
      : { relation, fid: target, name: label }
  })
}

/** Returns the names of files as a list. */
export function listNames(names: readonly string[]): HTMLElement {
  const shown = names.slice(0, 12).map((name) => create('li', {}, name))
  if (names.length > shown.length) shown.push(create('li', {}, `and ${names.length - shown.length} more`))
  return create('ul', {}, ...shown)
}

/** Maximum number of files whose followers are listed. */
const MAX_FOLLOWED = 50

/** Returns files and what their folders contain, up to one more than the maximum. */
async function listContents(files: readonly PageFile[]): Promise<PageFile[]> {
  const all = [...files]
  for (let k = 0; k < all.length && all.length <= MAX_FOLLOWED; k++) {
    const { fid, type } = all[k]
    if (type !== 'fold') continue
    const { children } = await call('folders.get', { path: { fid }, query: { page_size: MAX_FOLLOWED + 1 } })
    for (const { fid, filename: name, filetype, owner } of children?.results ?? [])
      all.push({ fid, name, type: filetype, owner })
  }
  return all.slice(0, MAX_FOLLOWED + 1)
}

/** Shows what follows files and the contents of folders, and what becomes of it. */
export async function showFollowers(
  dialog: OpenDialog,
  files: readonly PageFile[],
  when: 'meanwhile' | 'after',
): Promise<void> {
  const contents = await listContents(files)
  const all = contents.slice(0, MAX_FOLLOWED)
  const own = new Set(all.map(({ fid }) => fid))
  const lists = await Promise.all(all.map((file) => listFollowers(file).catch(() => [])))
  const shown = files.length > 1 ? 'them' : files[0].type === 'fold' ? 'its files' : 'it'
  const notes = Object.entries(FOLLOWERS).flatMap(([relation, { who, [when]: what }]) => {
    const followers = lists.flat().filter((one) => one.relation === relation && !own.has(one.fid))
    // What is more comes last.
    followers.sort((a, b) => Number(a.fid === MORE) - Number(b.fid === MORE))
    const names = new Map(followers.map(({ fid, name }) => [fid, name]))
    if (names.size === 0) return []
    const text = `These ${who} ${shown}, ${what}:`
    return [create('div', { class: 'note' }, text, listNames([...names.values()]))]
  })
  if (contents.length > all.length)
    notes.push(
      create(
        'div',
        { class: 'note' },
        `Charts, grids and boards of the first ${MAX_FOLLOWED} files are listed.`,
      ),
    )
  dialog.body.prepend(...notes)
}
