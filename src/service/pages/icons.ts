/** Logo, and icons of file types. */
import type { Filetype } from '../store/aggregates/files.ts'

const createIcon = (shapes: string): string =>
  `<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${shapes}</svg>`

/** Logo, as in src/browser/favicon.svg. */
export const LOGO =
  '<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#0b5cad"/><path d="M6 8h20M6 16h20M6 24h20" stroke="#fff" stroke-opacity=".35" stroke-width="1.5"/><path d="M6 23l6-7 5 4 9-12" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>'

/** Icon of each file type. */
export const ICONS: Record<Filetype, string> = {
  fold: createIcon('<path d="M3 7a2 2 0 0 1 2-2h4l2 2h8a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z"/>'),
  grid: createIcon('<rect x="3" y="4" width="18" height="16" rx="2"/><path d="M3 9.5h18M3 14.8h18M9 4v16"/>'),
  plot: createIcon('<path d="M4 4v16h16"/><path d="M7 15l4-5 3 3 5-7"/>'),
  dashboard: createIcon(
    '<rect x="3" y="4" width="18" height="16" rx="2"/><path d="M3 11h18M12 11v9"/><path d="M6 8l3-2 3 1 4-2"/>',
  ),
  extra: createIcon('<path d="M6 3h8l4 4v14H6z"/><path d="M14 3v4h4"/>'),
}
