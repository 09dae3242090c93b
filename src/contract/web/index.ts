// Pages of the service, and the files that they load.
import { imageFormats } from '../operations/index.ts'

/**
 * URL outside of the API: pages for browsers, and what they load. Router, headers, their test and the table
 * in docs/api.md#pages are derived from it.
 */
export interface WebRoute {
  method: 'GET' | 'POST'
  /** Path. `:user` is a username, `:id` the number of a file; an extension may follow. */
  path: string
  /** Alternative paths. */
  aliases?: readonly string[]
  summary: string
  /** `reader`: anyone with read access, also by share key (others get 404). `caller`: signed-in users. */
  access: 'anyone' | 'reader' | 'caller'
  /**
   * Security headers of the response. `page`: HTML that runs only scripts of this server and cannot be
   * framed. `frame`: a chart in an opaque origin. `data`: opened on its own, runs nothing. `asset`: cached by
   * browsers, readable by any origin.
   */
  headersFor: 'page' | 'frame' | 'data' | 'asset'
  /** True for URLs that only pages of this server load. They are not in docs/api.md. */
  isInternal?: true
}

export const webRoutes = {
  start: {
    method: 'GET',
    path: '/',
    summary:
      'the start page: recent and shared files, and public charts. Query: `q` searches the names of your files, those of their columns, and the titles of charts',
    access: 'anyone',
    headersFor: 'page',
  },
  connect: {
    method: 'GET',
    path: '/connect',
    summary: 'how to connect clients to this server',
    access: 'anyone',
    headersFor: 'page',
  },
  account: {
    method: 'GET',
    path: '/account',
    summary: 'keys, sessions, teams and quota of the caller',
    access: 'caller',
    headersFor: 'page',
  },
  user: {
    method: 'GET',
    path: '/~:user',
    summary:
      'the visible files of a user. Query: `view=list`; for the user, `show`: `shared`, `starred` or `trash`',
    access: 'anyone',
    headersFor: 'page',
  },
  file: {
    method: 'GET',
    path: '/~:user/:id',
    summary:
      'the page of a file: a chart, the rows of a grid, or the files of a folder. Query of a grid: `page`, `columns` (from 1); `sort` (the uid of a column), `order=desc`',
    access: 'reader',
    headersFor: 'page',
  },
  embed: {
    method: 'GET',
    path: '/~:user/:id.embed',
    summary:
      'the chart alone, for an `<iframe>`. Query: `share_key`; `theme`: `light` (default), `dark` or `auto`; `width` and `height` in pixels; `modebar=false`; `title=false`, if the surrounding page shows the title; `link=true`',
    access: 'reader',
    headersFor: 'frame',
  },
  figure: {
    method: 'GET',
    path: '/~:user/:id.json',
    summary: 'the figure with its data; of a grid, its content',
    access: 'reader',
    headersFor: 'data',
  },
  rows: {
    method: 'GET',
    path: '/~:user/:id.csv',
    aliases: ['xlsx', 'parquet', 'tsv', 'ndjson', 'md'].map((format) => `/~:user/:id.${format}`),
    summary:
      'the columns that the chart shows, or the rows of a grid, as CSV, XLSX, Parquet, TSV, NDJSON or Markdown; rows are selected by `grids.content`',
    access: 'reader',
    headersFor: 'data',
  },
  image: {
    method: 'GET',
    path: `/~:user/:id.${imageFormats[0]}`,
    aliases: [...imageFormats.slice(1), 'jpg'].map((format) => `/~:user/:id.${format}`),
    summary:
      'an [image](#images), or a page that is one file (`.html`, also of a grid); with `download`, browsers save it; with a `signature` of `drafts.charts`, anyone with the link can read it',
    access: 'reader',
    headersFor: 'data',
  },
  state: {
    method: 'GET',
    path: '/~:user/:id.state',
    summary: 'the fingerprint of the figure and data of a chart',
    access: 'reader',
    headersFor: 'data',
    isInternal: true,
  },
  events: {
    method: 'GET',
    path: '/~:user/:id.events',
    summary: 'the fingerprints of a chart as server-sent events',
    access: 'reader',
    headersFor: 'data',
    isInternal: true,
  },
  live: {
    method: 'GET',
    path: '/~:user/:id.live',
    summary: 'the figure of a chart with its data, for an open chart',
    access: 'reader',
    headersFor: 'data',
    isInternal: true,
  },
  oembed: {
    method: 'GET',
    path: '/oembed',
    summary: '[oEmbed](https://oembed.com) of the plot in `url`, as JSON',
    access: 'reader',
    headersFor: 'data',
  },
  signInForm: {
    method: 'GET',
    path: '/signin',
    summary: 'the form for username and API key; also signs in with a link of `sessions.create`',
    access: 'anyone',
    headersFor: 'page',
  },
  signInProvider: {
    method: 'GET',
    path: '/signin/oidc',
    summary:
      'redirects to the identity provider of `serve --oidc-issuer`. Query: `next`, the path to show afterwards',
    access: 'anyone',
    headersFor: 'page',
  },
  signInReturn: {
    method: 'GET',
    path: '/signin/oidc/return',
    summary: 'the redirect URI of the identity provider: signs in',
    access: 'anyone',
    headersFor: 'page',
  },
  signIn: {
    method: 'POST',
    path: '/signin',
    summary: 'signs in with username and API key, as a form',
    access: 'anyone',
    headersFor: 'page',
  },
  signOut: {
    method: 'POST',
    path: '/signout',
    summary: 'signs out',
    access: 'anyone',
    headersFor: 'page',
  },
  authorizeForm: {
    method: 'GET',
    path: '/authorize',
    summary: 'asks whether a command line may log in',
    access: 'anyone',
    headersFor: 'page',
  },
  authorize: {
    method: 'POST',
    path: '/authorize',
    summary: 'allows the login',
    access: 'caller',
    headersFor: 'page',
  },
  newChart: {
    method: 'GET',
    path: '/newchart',
    summary:
      'the share button of plotly.js 3.7 and later: set `plotlyServerURL` to this address. Query: `origin`',
    access: 'anyone',
    headersFor: 'page',
  },
  preview: {
    method: 'GET',
    path: '/newchart/preview',
    summary: 'an empty chart that draws the figure sent by the surrounding page',
    access: 'anyone',
    headersFor: 'frame',
    isInternal: true,
  },
  boardCharts: {
    method: 'GET',
    path: '/board-charts',
    summary: 'an empty page that draws the charts sent by the board around it',
    access: 'anyone',
    headersFor: 'frame',
    isInternal: true,
  },
  external: {
    method: 'POST',
    path: '/external',
    summary: 'the share button of earlier plotly.js versions; nothing is stored before the reader confirms',
    access: 'anyone',
    headersFor: 'page',
  },
  embedScript: {
    method: 'GET',
    path: '/embed.js',
    summary: 'the script of [embed blocks](#embed-blocks), which replaces their pictures by live charts',
    access: 'anyone',
    headersFor: 'asset',
  },
  missingPicture: {
    method: 'GET',
    path: '/404.png',
    summary: 'the picture that embed blocks show in place of a private or deleted chart',
    access: 'anyone',
    headersFor: 'asset',
  },
  asset: {
    method: 'GET',
    path: '/assets/:hash/:name',
    summary: 'a script or style of the pages',
    access: 'anyone',
    headersFor: 'asset',
    isInternal: true,
  },
  icon: {
    method: 'GET',
    path: '/favicon.ico',
    summary: 'the icon of the pages',
    access: 'anyone',
    headersFor: 'asset',
    isInternal: true,
  },
} as const satisfies Record<string, WebRoute>

export type WebRouteName = keyof typeof webRoutes
