/** Collaborators and teams. See docs/api.md#collaborators. */
import * as s from '../schema.ts'

/** Collaborator: a user, an invited e-mail address or a team. See docs/api.md#collaborators. */
export const Collaborator = s.object({
  type: s.optional(s.enumOf(['email', 'team'])),
  username: s.optional(s.string()),
  name: s.optional(s.string()),
  owner: s.optional(s.string({ description: 'Owner of the team, for the owner of the file.' })),
  email: s.optional(s.nullable(s.string())),
  readonly: s.boolean(),
})
export type Collaborator = s.Static<typeof Collaborator>

export const CollaboratorsAdd = s.object({
  users: s.optional(
    s.array(s.string(), { description: 'Usernames, or e-mail addresses of people without an account.' }),
  ),
  teams: s.optional(s.array(s.string())),
  readonly: s.optional(s.boolean({ description: 'If true, they can only read the file. Default: false.' })),
  send_email: s.optional(s.boolean({ description: 'Whether to notify them by e-mail. Default: false.' })),
  email_text: s.optional(s.string()),
  add_to_grids: s.optional(
    s.boolean({ description: 'For plots: also share the grids of the plot that you own.' }),
  ),
})

export const CollaboratorsRemove = s.object({
  users: s.optional(s.array(s.string())),
  teams: s.optional(s.array(s.string())),
})

export const CollaboratorsChanged = s.object({
  collaborators: s.array(Collaborator),
  emails_sent: s.integer(),
  warnings: s.array(s.string()),
  remaining_access: s.optional(
    s.array(s.string(), { description: 'Removed users who can still open the file, and why.' }),
  ),
})
export type CollaboratorsChanged = s.Static<typeof CollaboratorsChanged>

export const Team = s.object({
  name: s.string(),
  owner: s.string(),
  members: s.array(s.string()),
})
export type Team = s.Static<typeof Team>

export const TeamCreate = s.object({ name: s.string(), members: s.optional(s.array(s.string())) })

export const MembersChange = s.object({ users: s.array(s.string()) })
