/** Returns the link that shows a draft of the file at `url`. See docs/drafts.md. */
export function formatDraftUrl(url: string, name: string): string {
  return `${url}?version=${encodeURIComponent(name)}`
}
