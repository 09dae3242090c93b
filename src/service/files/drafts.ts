/** Drafts of grids. See docs/drafts.md. */

/** The link that shows a draft of a file. */
export function draftUrl(url: string, name: string): string {
  return `${url}?version=${encodeURIComponent(name)}`
}
