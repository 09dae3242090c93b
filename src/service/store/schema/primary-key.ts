// Reads and encodes the primary keys of grids.
/** Returns the uids of a grid's primary key columns; empty without a key. */
export function primaryKeyUidsOf({ primary_key }: { primary_key: string | null }): string[] {
  return primary_key === null ? [] : JSON.parse(primary_key)
}

/** Returns the names of a grid's primary key columns; empty without a key. */
export function primaryKeyNamesOf(
  grid: { primary_key: string | null },
  columns: readonly { uid: string; name: string }[],
): string[] {
  return primaryKeyUidsOf(grid).flatMap((uid) => columns.find((column) => column.uid === uid)?.name ?? [])
}

/** Encodes primary key columns for the database; null for none. */
export function encodePrimaryKey(uids: readonly string[]): string | null {
  return uids.length === 0 ? null : JSON.stringify(uids)
}
