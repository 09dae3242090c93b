/** Parts that several resources have. */
import * as s from '../schema.ts'

export const Timestamp = s.string({ format: 'date-time' })

export const Results = s.object({ results: s.array(s.anything()), count: s.integer() })

export const Parent = {
  parent: s.optional(s.nullable(s.integer())),
  parent_path: s.optional(s.string()),
}

export const Metadata = s.union(s.record(s.anything()), s.string())

export const Health = s.object({ status: s.string() })
