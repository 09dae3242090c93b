/** File ids (`<username>:<idlocal>`) and the links that contain them. See docs/api.md#conventions. */

/** Id of the home folder. */
export const ROOT = -1

export interface Fid {
  owner: string
  idlocal: number
}

const USERNAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9_])?$/

export function isUsername(text: string): boolean {
  return USERNAME.test(text)
}

export function formatFid({ owner, idlocal }: Fid): string {
  return `${owner}:${idlocal}`
}

/** Parses a fid (`alice:12`, `alice:-1`); undefined if it is invalid. */
export function parseFid(text: string): Fid | undefined {
  const match = /^([^:/\s]+):(-1|0|[1-9]\d{0,14})$/.exec(text)
  return match && isUsername(match[1]) ? { owner: match[1], idlocal: Number(match[2]) } : undefined
}

/** Returns `<base>/~alice/12/`. Existing clients cut off the last character: keep the trailing slash. */
export function formatWebUrl(base: string, { owner, idlocal }: Fid): string {
  return `${base}/~${owner}/${idlocal}/`
}

export function formatEmbedUrl(base: string, { owner, idlocal }: Fid): string {
  return `${base}/~${owner}/${idlocal}.embed`
}

/** Returns the fid in a link to a page, embed, export (`….csv`) or API URL; undefined for other links. */
export function parseFidLink(link: string): Fid | undefined {
  if (!/^https?:\/\//i.test(link)) return undefined
  let text: string
  try {
    text = decodeURIComponent(link)
  } catch {
    return undefined
  }
  const page = /\/~([^/?#]+)\/(\d+)(?:[/.?#]|$)/.exec(text)
  if (page) return parseFid(`${page[1]}:${page[2]}`)
  const api = /\/v2\/\w+\/([^/?#]+:-?\d+)(?:[/?#]|$)/.exec(text)
  return api ? parseFid(api[1]) : undefined
}
