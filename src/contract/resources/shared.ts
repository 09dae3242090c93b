/** Fields that several resources share. */
import * as s from '../schema.ts'

export const Timestamp = s.string({ format: 'date-time' })

export const Results = s.object({ results: s.array(s.anything()), count: s.integer() })

export const Parent = {
  parent: s.optional(s.nullable(s.integer())),
  parent_path: s.optional(s.string()),
}

const Metadata = s.union(s.record(s.anything()), s.string())

/** Number of a new file. */
export const NEW_IDLOCAL = s.optional(
  s.nullable(
    s.integer({
      description: 'Number of an imported file, above all that you have used (else 409 `conflict`).',
    }),
  ),
)

/** Fields accepted when a grid or plot is created or updated. */
export const CREATABLE_FIELDS = {
  filename: s.optional(s.string()),
  ...Parent,
  world_readable: s.optional(s.boolean()),
  share_key_enabled: s.optional(s.boolean()),
  metadata: s.optional(Metadata),
}

export type CreatableFields = s.Static<ReturnType<typeof s.object<typeof CREATABLE_FIELDS>>>

export const Health = s.object({ status: s.string() })
