// Uploads the grids of an exported account with their uids, types and keys.
import { Readable } from 'node:stream'
import { type Client, encodeHeader, uploadInParts } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import type { ResultOf } from '../../contract/operations/index.ts'
import type { FileMeta, GridMeta } from '../../contract/resources/index.ts'
import type { ManifestContent } from '../export/manifest.ts'
import { exactCsvHeaders } from '../files/exact-csv.ts'
import type { AccountContents } from './account-contents.ts'
import { type AccountItem, messageHeaders, progressMark, temporaryName } from './account-item.ts'

/** Size from which a file is uploaded in parts, in bytes. */
const MIN_PARTS_BYTES = 32 * 1024 * 1024
/** Number of columns whose uids are sent in a header; those of more are in the body of an upload in parts. */
const MAX_UIDS_IN_HEADER = 2000

/** Uploads contents of grids. `username`: the exported account, for the history. */
export class GridSender {
  constructor(
    private readonly client: Client,
    private readonly contents: AccountContents,
    private readonly username: string,
  ) {}

  /** Gives a grid a content, as a new version, also if it is equal to the one before. */
  async send(
    item: AccountItem,
    content: ManifestContent,
    headers: { 'On-Conflict': 'fail' | 'replace'; Idlocal?: number },
  ): Promise<FileMeta> {
    const { entry } = item
    const before = entry.contents[entry.contents.indexOf(content) - 1]
    const isEqual = before?.sha256 === content.sha256
    // Equal data makes no version.
    const between = isEqual ? await this.upload(item, undefined, headers) : undefined
    const { file } = await this.upload(item, content, headers)
    if (between?.version !== undefined)
      await this.client.call('versions.forget', {
        fid: file.fid,
        query: { version: String(between.version) },
      })
    await this.restoreNames(item, content, file as GridMeta)
    return file
  }

  /** Ends a step after which an earlier run may have been cut. */
  async resume(item: AccountItem): Promise<void> {
    const content = item.entry.contents[item.step - 1]
    if (content)
      await this.restoreNames(item, content, await this.client.call('grids.get', { fid: item.file!.fid }))
  }

  /** Gives columns the names that they have in a content: readers of files give those without a visible name one. */
  private async restoreNames(
    item: AccountItem,
    content: ManifestContent,
    { fid, cols }: GridMeta,
  ): Promise<void> {
    const names = new Map(content.columns?.map(({ name, uid }) => [uid, name]))
    const renamed = cols.filter(({ name, uid }) => names.get(uid) !== name)
    if (renamed.length === 0) return
    // A change of columns removes the tag of the upload: this tells a later run how far this one came.
    const metadata = progressMark({ ...item, step: item.entry.contents.indexOf(content) + 1 })
    await this.client.call('files.update', { fid, json: { metadata } })
    for (const { uid } of renamed) {
      const json = { cols: JSON.stringify([{ name: names.get(uid) }]) }
      await this.client.call('columns.update', { fid, query: { uid }, json })
    }
  }

  /** Uploads a content of a grid; without one, a table that differs from all. */
  private async upload(
    item: AccountItem,
    content: ManifestContent | undefined,
    headers: { 'On-Conflict': 'fail' | 'replace'; Idlocal?: number },
  ): Promise<ResultOf<'grids.upload'>> {
    const { key, contents } = item.entry
    const columns = content?.columns ?? []
    const { size, open, isCsv } = content
      ? await this.contents.open(content)
      : { size: 1, open: () => Readable.from([Buffer.from(`${item.mark}\n1\n`)]), isCsv: true }
    if (content && size === 0) {
      if (headers['On-Conflict'] === 'replace')
        throw new Problem('bad_data', `${content.path}: a version without rows cannot be imported`)
      const cols = Object.fromEntries(columns.map(({ name, uid }, order) => [name, { uid, order, data: [] }]))
      // Tells a later run how far this one came.
      const metadata = progressMark({ ...item, step: item.step + 1 })
      const json = { data: { cols }, filename: temporaryName(item), idlocal: headers.Idlocal, metadata }
      return this.client.call('grids.create', { json })
    }
    const step = item.step + (headers['On-Conflict'] === 'fail' ? 1 : 0)
    const allHeaders = {
      ...headers,
      ...(isCsv && exactCsvHeaders(columns)),
      Key: content === contents.at(-1) && key ? key.map(encodeURIComponent).join(',') : undefined,
      'Allow-Type-Change': true,
      Provenance: encodeURIComponent(`exported account of ${this.username}`),
      // Tells a later run how far this one came.
      'Source-Tag': `import ${item.mark} ${content ? step : step - 1}`,
    } as const
    const fileName = `${temporaryName(item)}.${isCsv ? 'csv' : 'ndjson'}`
    const plainHeaders = {
      [FILE_NAME_HEADER]: encodeHeader(fileName),
      ...(content && messageHeaders(content)),
    }
    const uids = columns.length > 0 ? columns.map(({ uid }) => uid) : undefined
    if (size > MIN_PARTS_BYTES || columns.length > MAX_UIDS_IN_HEADER)
      return uploadInParts(this.client, { size, open }, { headers: allHeaders, plainHeaders, uids })
    const body = { type: 'application/octet-stream', repeatable: true, open: () => open(0) }
    const withUids = { ...allHeaders, Uids: uids?.join(',') }
    return this.client.call('grids.upload', { headers: withUids, plainHeaders, body })
  }
}
