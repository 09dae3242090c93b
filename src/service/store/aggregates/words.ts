// Indexes the words of names, so that a search in many files does not read all of them. See docs/adr/0056.
import { type RawBuilder, sql } from 'kysely'
import { createInserter } from '../schema/insert-rows.ts'
import type { Db } from '../schema/schema.ts'

/** Number of new files of an owner after which words are indexed: those of earlier files. */
export const NEW_FILES_PER_JOB = 500

/** Files indexed by one transaction, which keeps the owner waiting. */
const BATCH_FILES = 50
/** Columns of a grid whose names are indexed, and words of a file: the first ones. */
const MAX_COLUMNS = 200
const MAX_WORDS = 200
/** Characters of a word that are indexed. */
const MAX_WORD_CHARACTERS = 32
/** Marks an indexed file, as a row without a word. */
const INDEXED = ''
/** A beginning with this end comes after all words with the beginning. */
const LAST = '\u{10ffff}'

const insertWords = createInserter('file_words')

const WORD = /[\p{L}\p{M}\p{N}]+/gu
/** A text in a script without spaces between words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Khmer}\p{sc=Lao}\p{sc=Myanmar}]/u

/** Returns the words of a text: letters and digits, in lower case. */
export function listWords(text: string): string[] {
  // The end of a word decides which of the two a capital sigma becomes.
  return text.toLowerCase().replaceAll('ς', 'σ').match(WORD) ?? []
}

/** Returns the texts under which a word is found by its beginning: without spaces, also those from each later character. */
export function listKeys(word: string): string[] {
  const characters = [...word]
  const starts = UNSPACED.test(word) ? characters.map((_, k) => k) : [0]
  return starts.map((k) => characters.slice(k, k + MAX_WORD_CHARACTERS).join(''))
}

/** Words of a search that are looked up: the longest ones. */
const MAX_SEARCHED_WORDS = 5

/** Rows of the index that are read for a word: several of them may be of one file. */
const MAX_READ_ROWS = 5000

/** SQL: ids of up to `limit` files with a word: those with the whole word first, and of these the newest. */
function selectFilesWith(owner: string, word: string, limit: number): RawBuilder<unknown> {
  const [key] = listKeys(word)
  const whole = sql`select idlocal from file_words where owner = ${owner} and word = ${key}
    order by idlocal desc limit ${sql.lit(limit)}`
  const longer = sql`select idlocal from file_words where owner = ${owner} and word > ${key} and word < ${key + LAST}
    order by word, idlocal limit ${sql.lit(MAX_READ_ROWS)}`
  return sql`select idlocal from (select idlocal, min(place) as place from (
      select idlocal, 0 as place from (${whole}) as w union all select idlocal, 1 as place from (${longer}) as l) as f
    group by idlocal order by place, idlocal desc limit ${sql.lit(limit)}) as g`
}

/**
 * Returns SQL for the ids of up to `limit` files with a word that begins like the rarest word of a text; undefined
 * without words.
 */
export async function selectFilesWithWord(
  db: Db,
  owner: string,
  text: string,
  limit: number,
): Promise<RawBuilder<unknown> | undefined> {
  const words = [...new Set(listWords(text))].sort((a, b) => b.length - a.length).slice(0, MAX_SEARCHED_WORDS)
  const found = words.map((word) => selectFilesWith(owner, word, limit))
  if (found.length <= 1) return found[0]
  const counts = found.map(
    (files, k) => sql`select ${sql.lit(k)} as k, count(*) as files from (${files}) as r`,
  )
  const { rows } = await sql<{ k: number }>`select k from (${sql.join(counts, sql` union all `)}) as c
    order by files, k limit 1`.execute(db)
  return found[Number(rows[0].k)]
}

/** SQL: id of the last file whose words are indexed; -1 without any. All before it are indexed too. */
export function selectLastIndexed(owner: string): RawBuilder<number> {
  return sql<number>`(select coalesce(max(idlocal), -1) from file_words where owner = ${owner} and word = ${sql.lit(INDEXED)})`
}

/**
 * Indexes the words of the next files of an owner. Returns whether there were none. The ids of the last files may
 * still be those of files that are being made.
 */
export async function indexNextFiles(db: Db, owner: string): Promise<boolean> {
  const { rows } = await sql<{ idlocal: number }>`select idlocal from files where owner = ${owner}
    and idlocal > ${selectLastIndexed(owner)} and filetype <> 'extra'
    and idlocal < (select next_idlocal from counters where owner = ${owner}) - ${sql.lit(NEW_FILES_PER_JOB)}
    order by idlocal limit ${sql.lit(BATCH_FILES)}`.execute(db)
  await addWords(
    db,
    owner,
    rows.map(({ idlocal }) => idlocal),
  )
  return rows.length === 0
}

/** Indexes a file again whose names have changed, if it was indexed. */
export async function indexAgain(db: Db, owner: string, idlocal: number): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom('file_words')
    .where(({ and }) => and({ owner, idlocal }))
    .executeTakeFirst()
  if (numDeletedRows > 0n) await addWords(db, owner, [idlocal])
}

/** Adds the words of files. */
async function addWords(db: Db, owner: string, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  const names = await db
    .selectFrom('files')
    .select(['idlocal', 'filename as name', sql<number>`-1`.as('position')])
    .where('owner', '=', owner)
    .where('idlocal', 'in', ids)
    .unionAll(
      db
        .selectFrom('columns')
        .select(['idlocal', 'name', 'position'])
        .where('owner', '=', owner)
        .where('idlocal', 'in', ids)
        .where('position', '<', MAX_COLUMNS),
    )
    .unionAll(
      db
        .selectFrom('plots')
        .select(['idlocal', sql<string>`title`.as('name'), sql<number>`-1`.as('position')])
        .where('owner', '=', owner)
        .where('idlocal', 'in', ids)
        .where('title', 'is not', null),
    )
    .execute()
  const wordsOf = new Map(ids.map((idlocal) => [idlocal, new Set([INDEXED])]))
  for (const { idlocal, name } of names.sort((a, b) => Number(a.position) - Number(b.position))) {
    const words = wordsOf.get(Number(idlocal))!
    for (const key of listWords(name).flatMap(listKeys)) if (words.size < MAX_WORDS) words.add(key)
  }
  const rows = [...wordsOf].flatMap(([idlocal, words]) =>
    [...words].map((word) => ({ owner, idlocal, word })),
  )
  await insertWords(db, rows)
}
