import { imageFormats } from '../operations/index.ts'

/**
 * The addresses outside of the API: what people open in a browser, and what pages load. Router, headers, their test and
 * the table in docs/api.md#pages follow from it.
 */
export interface WebRoute {
  method: 'GET' | 'POST'
  /** `:user` is a username, `:id` the number of a file; what follows them is an ending. */
  path: string
  /** Further spellings of the same address. */
  also?: readonly string[]
  summary: string
  /**
   * `anyone`; `reader`: who may read the file, also by its share key (404 for others); `caller`: who is signed in.
   */
  access: 'anyone' | 'reader' | 'caller'
  /**
   * The security headers. `page`: HTML that runs scripts of this server only and is shown in no frame. `frame`: a chart,
   * drawn in an opaque origin. `data`: runs nothing, opened on its own. `asset`: kept by browsers, read in any origin.
   */
  answers: 'page' | 'frame' | 'data' | 'asset'
  /** Loaded by pages of this server: not in docs/api.md. */
  isInternal?: true
}

export const webRoutes = {
  start: {
    method: 'GET',
    path: '/',
    summary:
      'the start page: recent files and what is shared, and public charts. Query: `q`, which is searched for in the names of your files and of their columns',
    access: 'anyone',
    answers: 'page',
  },
  connect: {
    method: 'GET',
    path: '/connect',
    summary: 'how clients are connected to this server',
    access: 'anyone',
    answers: 'page',
  },
  user: {
    method: 'GET',
    path: '/~:user',
    summary: 'the files of a user that the reader may see. Query: `view=pictures`',
    access: 'anyone',
    answers: 'page',
  },
  file: {
    method: 'GET',
    path: '/~:user/:id',
    summary:
      'the page of a file: a chart, the rows of a grid, or the files of a folder. Query of a grid: `page`, `columns` (from 1); `sort` (the uid of a column), `order=desc`',
    access: 'reader',
    answers: 'page',
  },
  embed: {
    method: 'GET',
    path: '/~:user/:id.embed',
    summary:
      'the chart alone, for an `<iframe>`. Query: `share_key`; `theme`: `light` (default), `dark` or `auto`; `width` and `height` in pixels; `modebar=false`; `title=false`, where the page around it has the title; `link=true`',
    access: 'reader',
    answers: 'frame',
  },
  figure: {
    method: 'GET',
    path: '/~:user/:id.json',
    summary: 'the figure with its data; of a grid, its content',
    access: 'reader',
    answers: 'data',
  },
  rows: {
    method: 'GET',
    path: '/~:user/:id.csv',
    summary: 'the columns that the chart shows, or the rows of a grid',
    access: 'reader',
    answers: 'data',
  },
  image: {
    method: 'GET',
    path: `/~:user/:id.${imageFormats[0]}`,
    also: [...imageFormats.slice(1), 'jpg'].map((format) => `/~:user/:id.${format}`),
    summary:
      'an [image](#images); with `download`, browsers save it; with a `signature` of `drafts.charts`, for anyone with the link',
    access: 'reader',
    answers: 'data',
  },
  state: {
    method: 'GET',
    path: '/~:user/:id.state',
    summary: 'the state of what a chart shows, which changes with its figure and data',
    access: 'reader',
    answers: 'data',
    isInternal: true,
  },
  events: {
    method: 'GET',
    path: '/~:user/:id.events',
    summary: 'the states of a chart as server-sent events',
    access: 'reader',
    answers: 'data',
    isInternal: true,
  },
  live: {
    method: 'GET',
    path: '/~:user/:id.live',
    summary: 'the figure of a chart with its data, for an open chart',
    access: 'reader',
    answers: 'data',
    isInternal: true,
  },
  oembed: {
    method: 'GET',
    path: '/oembed',
    summary: '[oEmbed](https://oembed.com) of the plot in `url`, as JSON',
    access: 'reader',
    answers: 'data',
  },
  signInForm: {
    method: 'GET',
    path: '/signin',
    summary: 'the form for username and API key; signs in with a link of `sessions.create`',
    access: 'anyone',
    answers: 'page',
  },
  signInProvider: {
    method: 'GET',
    path: '/signin/oidc',
    summary:
      'leads to the identity provider of `serve --oidc-issuer`. Query: `next`, the path to show afterwards',
    access: 'anyone',
    answers: 'page',
  },
  signInReturn: {
    method: 'GET',
    path: '/signin/oidc/return',
    summary: 'where the identity provider leads back to: signs in',
    access: 'anyone',
    answers: 'page',
  },
  signIn: {
    method: 'POST',
    path: '/signin',
    summary: 'signs in with username and API key, as a form',
    access: 'anyone',
    answers: 'page',
  },
  signOut: {
    method: 'POST',
    path: '/signout',
    summary: 'signs out',
    access: 'anyone',
    answers: 'page',
  },
  authorizeForm: {
    method: 'GET',
    path: '/authorize',
    summary: 'asks whether a command line may log in',
    access: 'anyone',
    answers: 'page',
  },
  authorize: {
    method: 'POST',
    path: '/authorize',
    summary: 'allows it',
    access: 'caller',
    answers: 'page',
  },
  newChart: {
    method: 'GET',
    path: '/newchart',
    summary:
      'the share button of plotly.js 3.7 and later: set `plotlyServerURL` to this address. Query: `origin`',
    access: 'anyone',
    answers: 'page',
  },
  preview: {
    method: 'GET',
    path: '/newchart/preview',
    summary: 'an empty chart that draws what the page around it sends',
    access: 'anyone',
    answers: 'frame',
    isInternal: true,
  },
  external: {
    method: 'POST',
    path: '/external',
    summary: 'the form of earlier versions; nothing is stored before the reader confirms',
    access: 'anyone',
    answers: 'page',
  },
  asset: {
    method: 'GET',
    path: '/assets/:hash/:name',
    summary: 'a script or style of the pages',
    access: 'anyone',
    answers: 'asset',
    isInternal: true,
  },
  icon: {
    method: 'GET',
    path: '/favicon.ico',
    summary: 'the icon of the pages',
    access: 'anyone',
    answers: 'asset',
    isInternal: true,
  },
} as const satisfies Record<string, WebRoute>

export type WebRouteName = keyof typeof webRoutes
