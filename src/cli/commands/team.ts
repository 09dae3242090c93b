// `gridline team`: creates, edits and lists teams.
import { type CommandEntry, defineCommand, subcommand, yesOption } from '../core/define.ts'
import { arrayOf, objectOf } from '../core/output-schema.ts'
import { confirm } from '../core/prompt.ts'
import type { TableView } from '../output/view.ts'

const view: TableView = {
  id: 'name',
  columns: [
    { field: 'name', title: 'TEAM' },
    { field: 'owner', title: 'OWNER' },
    { field: 'members', title: 'MEMBERS', format: (members: string[]) => members.join(' ') },
  ],
}

const create = defineCommand({
  output: objectOf('Team'),
  writes: true,
  arguments: '<name> [user...]',
  examples: ['gridline team create finance', 'gridline team create finance bob eve'],
  async run(context, [name, ...members]) {
    const client = await context.client()
    return { item: await client.call('teams.create', { json: { name, members } }), view }
  },
})

const add = defineCommand({
  output: objectOf('Team'),
  writes: true,
  arguments: '<team> <user...>',
  examples: ['gridline team add finance bob', 'gridline team add finance bob eve'],
  async run(context, [team, ...users]) {
    const client = await context.client()
    return { item: await client.call('members.add', { name: team, json: { users } }), view }
  },
})

const remove = defineCommand({
  output: objectOf('Team'),
  writes: true,
  arguments: '<team> <user...>',
  examples: ['gridline team remove finance bob', 'gridline team remove finance bob eve'],
  async run(context, [team, ...users]) {
    const client = await context.client()
    return { item: await client.call('members.remove', { name: team, json: { users } }), view }
  },
})

const deleteTeam = defineCommand({
  output: objectOf('Team'),
  writes: true,
  arguments: '<team>',
  options: [yesOption],
  examples: ['gridline team delete finance', 'gridline team delete finance --yes'],
  async run(context, [team], { yes }) {
    const client = await context.client()
    const deleted = await client.call('teams.get', { name: team })
    await confirm(`Delete the team ${team}?`, yes === true)
    await client.call('teams.delete', { name: team })
    return { item: deleted, view }
  },
})

const list = defineCommand({
  output: arrayOf('Team'),
  lists: {},
  examples: ['gridline team list', 'gridline team list --json name,members'],
  async run(context) {
    const client = await context.client()
    return { items: (await client.call('teams.list')).teams, view, empty: 'You are not in any team.' }
  },
})

export const commands: readonly CommandEntry[] = [
  subcommand('create', 'Create a team', create),
  subcommand('add', 'Add users to a team', add),
  subcommand('remove', 'Remove users from a team', remove),
  subcommand('delete', 'Delete a team', deleteTeam),
  subcommand('list', 'List your teams', list),
]
