/** The folder of drafts of files that do not exist yet. See docs/drafts.md. */
export const DRAFTS_FOLDER = 'Drafts'

/** The link that shows a draft of a file. */
export function draftUrl(url: string, name: string): string {
  return `${url}?version=${encodeURIComponent(name)}`
}
