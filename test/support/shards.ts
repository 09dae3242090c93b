// Records statements that reach more than one shard on Citus.
import pg from 'pg'

/** Statements that may reach more than one shard. All others concern one owner. */
const allowed: readonly RegExp[] = [
  // Lists over all owners: public plots, shared and starred files, copies.
  /^select .* from "?files"? where "?filetype"? = /,
  /^select \* from \(select .* from files /,
  /^with picked/,
  /^with page\(owner, idlocal\) as .* from collaborators /,
  /^select .* from "files" where "source_fid" = /,
  /^select .* from "?stars"? (join files|where "username")/,
  // Files of several owners by their ids.
  / or …/,
  // Owners that share objects, for copies and sweeps.
  /^select "key" from "objects" where "key" in \(\?\) and "owner" <> \?/,
  // Background work: due jobs, expired rows.
  /^select .* from "jobs" where "due" <= /,
  /^select distinct "owner" from "marks"/,
  /^select .* from "(drafts|audit)" where "(made_at|at)" < \?/,
  /^select .* from "(objects|idempotency|versions)" (where \([^)]*\) > \(\?\) )?order by "owner"/,
  /^select .* from "objects" (where "place"|group by|order by)/,
  // Renaming and deleting users and teams.
  /^(update|delete from) "\w+" (set .*)?where "(kind" = \? and "name|\w*(made_by|username|caller|actor|appended_by|by_owner|to_owner))" = \?/,
  /^update "files" set "source_fid"/,
  // Operator commands: user list, audit log, verify.
  /^select "owner", count\(\*\) .* group by "owner"/,
  /^select .* from "audit" (where .*)?order by "at" desc/,
  /^select .* from "(files|counters|references|referencers)" (where \(.*\) )?order by "owner", "\w+"/,
  /^select "owner" from "counters" order by/,
  // Tests themselves.
  /^select (\*|"hash") from "\w+"$/,
  /^update "objects" set "(body|changed_at)" = \?/,
]

type Running = pg.Client & { _activeQuery?: { text?: string } }

/** Records statements that reach more than one shard, which Citus reports with `citus.multi_task_query_log_level = notice`. */
export class ShardWatch {
  /** Statements without values, one entry per execution. */
  readonly statements = new Map<string, number>()
  private readonly query = pg.Client.prototype.query

  constructor() {
    const { statements, query } = this
    const watched = new WeakSet<object>()
    pg.Client.prototype.query = function (this: Running, ...args: unknown[]) {
      if (!watched.has(this)) {
        watched.add(this)
        this.on('notice', ({ message }) => {
          if (!message?.startsWith('multi-task query')) return
          // Of several sent statements, Citus means the first unanswered one.
          const text = shape(this._activeQuery?.text ?? '?')
          statements.set(text, (statements.get(text) ?? 0) + 1)
        })
      }
      return (query as (...all: unknown[]) => unknown).apply(this, args)
    } as typeof query
  }

  /** Statements that are not in the list. */
  unexpected(): string[] {
    return [...this.statements.keys()].filter((text) => !allowed.some((pattern) => pattern.test(text)))
  }

  stop(): void {
    pg.Client.prototype.query = this.query
  }
}

/** Removes values and list lengths from a statement. */
function shape(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/\$\d+/g, '?')
    .replace(/\b\d+\b/g, '0')
    .replace(/\((?:\?|0)(?:, ?(?:\?|0))*\)/g, '(?)')
    .replace(/(\([^()]* in \(\?\)\))(?: or \1)+/g, '$1 or …')
}
