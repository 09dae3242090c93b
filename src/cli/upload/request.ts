// What an upload is asked to do: its files, and options that fit together.
import { flagOf, OPTION_NAMES } from '../../charts/spec/options.ts'
import { Problem } from '../../contract/errors.ts'
import { parseFid } from '../../contract/fid.ts'
import { formatCount } from '../../contract/message-texts.ts'
import { assertDistinctNames } from '../charts/create.ts'
import type { Context } from '../core/context.ts'
import { definitionKindOf } from '../files/definitions.ts'
import { assertDraftName } from '../files/drafts.ts'
import type { Failure } from '../output/failure.ts'
import { type Expanded, expandFiles, type LocalFile, noteLinks, someOf } from './expand.ts'
import { noDataFilesProblem, storedPathOf } from './mirror.ts'
import type { UploadOptions } from './options.ts'
import type { DefinitionFile } from './read-definitions.ts'
import { readDefinitions, withStoredName } from './read-definitions.ts'

/** The files to upload, and how. */
export interface UploadRequest {
  options: UploadOptions
  expanded: Expanded
  /** Data files. */
  files: readonly LocalFile[]
  definitions: readonly DefinitionFile[]
  /** Definition files that cannot be read. */
  broken: readonly Failure[]
  /** Several files are sent, with a total. */
  isBatch: boolean
  /** Nothing is changed: --dry-run or --plan. */
  isDry: boolean
}

/** Finds the files of an upload. Throws `usage` or `no_such_file`. */
export async function readRequest(
  context: Context,
  words: readonly string[],
  given: UploadOptions,
): Promise<UploadRequest> {
  const options: UploadOptions = given.delete ? { onConflict: 'replace', ...given } : given
  const isDry = options.dryRun === true || options.plan !== undefined
  checkOptions(given)
  const isDefinition = (file: string): boolean => definitionKindOf(file) !== undefined
  const found = expandFiles(words, { ...options, isDefinition })
  const files = found.files.filter(({ file }) => !isDefinition(file))
  const { definitions, broken, others } = await readDefinitions(found, options.name)
  const excluded = [...found.excluded.map(withStoredName), ...others.map(withStoredName)]
  const skipped = [...found.skipped, ...others.map(({ file }) => file)]
  const expanded = { ...found, excluded, skipped, files: [...files, ...definitions] }
  const { isMultiple } = expanded
  if (expanded.files.length === 0 && broken.length > 0) throw broken[0].problem
  checkFiles(words, expanded, options, isDry)
  if (definitions.length > 0 && options.onConflict === 'rename')
    throw new Problem('usage', '--on-conflict rename cannot be used with queries, charts and boards', {
      hint: `They are: ${someOf(definitions.map(({ file }) => file))}. To leave them out, use --exclude.`,
    })
  noteLinks(context.messages, found)
  if (skipped.length > 0)
    context.messages.note(
      `${formatCount(skipped.length, 'file')} ${skipped.length === 1 ? 'was' : 'were'} skipped, not data${others.length > 0 ? ' or queries' : ''}: ${someOf(skipped)}`,
    )
  const isBatch = isMultiple || expanded.files.length > 1
  return { options, expanded, files, definitions, broken, isBatch, isDry }
}

/** Throws `usage` for options that exclude or need each other, and for an invalid --name or --draft. */
function checkOptions(options: UploadOptions): void {
  const { name, plot, plan } = options
  if (options.delete !== true && options.maxDelete !== undefined)
    throw new Problem('usage', '--max-delete can only be used with --delete')
  if ((options.unpivot === undefined) !== (options.into === undefined))
    throw new Problem('usage', '--unpivot and --into belong together', {
      hint: 'For example: --unpivot 2019-2023 --into year,value',
    })
  if (options.unpivot !== undefined && (plan !== undefined || options.delete))
    throw new Problem('usage', '--unpivot cannot be used with --plan or --delete')
  if (plan !== undefined && plot !== undefined)
    throw new Problem('usage', '--plan and --plot cannot be used together')
  if (name !== undefined && parseFid(name))
    throw new Problem('usage', `--name ${name}: looks like the id of a file`, {
      hint: `To change the rows of a grid: gridline append ${name} FILE --key COLUMN --delete-missing`,
    })
  assertDraftName(options.draft)
  refuseWithDraft(options)
  refuseWithDelete(options)
  if (name !== undefined && (name.trim() === '' || /[/\\]/.test(name)))
    throw new Problem('usage', `--name ${JSON.stringify(name)}: must not be empty or contain / or \\`, {
      hint: 'Use --folder to set the folder.',
    })
}

/** Throws if there are no files, or if options need others. */
function checkFiles(
  words: readonly string[],
  { files, skipped, links, isMultiple }: Expanded,
  options: UploadOptions,
  isDry: boolean,
): void {
  const { name, plot } = options
  if (name !== undefined && (isMultiple || files.length > 1))
    throw new Problem('usage', '--name can only be used with one file')
  if (files.length === 0 && options.delete) throw noDataFilesProblem(words.join(', '))
  if (files.length === 0)
    throw new Problem('no_such_file', 'no files to upload', {
      hint:
        skipped.length > 0
          ? `Not data files: ${someOf(skipped)}. Use --include.`
          : links.length > 0
            ? `Symbolic links are not followed: ${someOf(links)}.`
            : 'Check the names.',
    })
  assertDistinctNames(
    files.map((local) => ({ file: local.file, name: storedPathOf(local) })),
    options.onConflict,
  )
  if (files.some(({ file }) => file === '-') && name === undefined && !isDry)
    throw new Problem('usage', 'standard input has no name', { hint: 'Set one with --name.' })
  const lost = plot === undefined && OPTION_NAMES.find((one) => one !== 'locale' && one in options)
  if (lost) throw new Problem('usage', `${flagOf(lost)} can only be used with --plot`)
}

/**
 * Throws `usage` for options that have no meaning for a draft, which is private and replaces the whole grid.
 * `--on-conflict replace` is allowed.
 */
function refuseWithDraft({
  draft,
  onConflict,
  key,
  plot,
  public: isPublic,
  delete: isMirror,
}: UploadOptions): void {
  if (draft === undefined) return
  const other =
    onConflict !== undefined && onConflict !== 'replace'
      ? `--on-conflict ${onConflict}`
      : key !== undefined
        ? '--key'
        : plot !== undefined
          ? '--plot'
          : isPublic
            ? '--public'
            : isMirror
              ? '--delete'
              : undefined
  if (other !== undefined) throw new Problem('usage', `--draft and ${other} cannot be used together`)
}

/** A mirror has what the directory has: it replaces. */
function refuseWithDelete({ delete: isMirror, onConflict, key }: UploadOptions): void {
  if (!isMirror) return
  if (onConflict !== undefined && onConflict !== 'replace')
    throw new Problem('usage', `--delete and --on-conflict ${onConflict} cannot be used together`)
  if (key !== undefined) throw new Problem('usage', '--delete and --key cannot be used together')
}
