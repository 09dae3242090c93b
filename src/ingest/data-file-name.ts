// Tells data files from archives and documentation, by their names.
import { type FileFormat, fileFormats, formatOfFileName } from '../contract/formats.ts'

/** Returns whether the extension belongs to a data file that is not an archive. */
export function isDataFile(fileName: string): boolean {
  const name = formatOfFileName(fileName)
  const format: FileFormat | undefined = name && fileFormats[name]
  return format !== undefined && !format.isArchive
}

/** Returns whether a file in an archive is documentation (readme, license), not data. */
export function isDocumentationFile(fileName: string): boolean {
  return /^(read[ _-]?me|licen[cs]e|copying|notice|changelog)\.txt$/i.test(fileName)
}
