// Addresses of Chart Studio that stand in old pages: where they lead here, or why they lead nowhere.

/**
 * An old address. `path`: as in `webRoutes`; `*` is everything after it. It leads to a path of this server, keeping its
 * query, or is answered with status 410.
 */
export type OldAddress = { path: string; aliases?: readonly string[] } & (
  | { leadsTo: 'file' | 'start' | 'fid'; summary: string }
  | { gone: string; hint: string }
)

/** Old addresses: those of `leadsTo: 'fid'` name the file with `fid` in the path or the query. */
export const oldAddresses: readonly OldAddress[] = [
  {
    path: '/~:user/:id/*',
    leadsTo: 'file',
    summary: 'links with a title, and frames with a width and a height: anything is accepted',
  },
  { path: '/create', leadsTo: 'fid', summary: 'the editor: the page of the file in `fid` has a form' },
  {
    path: '/dashboard/:fid/*',
    leadsTo: 'fid',
    summary: 'a dashboard: the page of the board',
  },
  { path: '/feed', aliases: ['/plot'], leadsTo: 'start', summary: 'the public charts' },
  {
    path: '/~:user/:id.py',
    aliases: ['r', 'm', 'jl', 'js'].map((ending) => `/~:user/:id.${ending}`),
    gone: 'the code of charts is not offered',
    hint: 'The address of the chart with .json has its figure, which the libraries for Python, R, Julia and JavaScript draw.',
  },
  {
    path: '/~:user/:id.eps',
    gone: 'images in EPS are not offered',
    hint: 'The address of the chart with .pdf or .svg has an image without pixels.',
  },
  {
    path: '/static/*',
    gone: 'the files of Chart Studio’s own pages are not offered',
    hint: 'Charts are embedded with /embed.js.',
  },
]
