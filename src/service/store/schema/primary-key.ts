/** The uids of the columns of a grid's key; none if it has no key. */
export function keyOf({ primary_key }: { primary_key: string | null }): string[] {
  return primary_key === null ? [] : (JSON.parse(primary_key) as string[])
}

/** The names of the columns of a grid's key. */
export function keyNames(
  grid: { primary_key: string | null },
  columns: readonly { uid: string; name: string }[],
): string[] {
  return keyOf(grid).flatMap((uid) => columns.find((column) => column.uid === uid)?.name ?? [])
}

/** As it is stored. */
export function storedKey(uids: readonly string[]): string | null {
  return uids.length === 0 ? null : JSON.stringify(uids)
}
