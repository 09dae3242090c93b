// Lists all migrations.
import type { Migration } from '../engines/engine.ts'
import * as start from './0001-start.ts'
import * as sharing from './0002-sharing.ts'
import * as integrity from './0003-integrity.ts'
import * as sessions from './0004-sessions.ts'
import * as sourceTags from './0005-source-tags.ts'
import * as oidcTrust from './0006-oidc-trust.ts'
import * as disabledUsers from './0007-disabled-users.ts'
import * as formerNames from './0008-former-names.ts'
import * as lostColumns from './0009-lost-columns.ts'
import * as versions from './0010-versions.ts'
import * as keys from './0011-keys.ts'
import * as checks from './0012-checks.ts'
import * as drafts from './0013-drafts.ts'
import * as trees from './0014-trees.ts'
import * as lists from './0015-lists.ts'
import * as holds from './0016-holds.ts'
import * as objects from './0017-objects.ts'
import * as running from './0018-running.ts'
import * as referencers from './0019-referencers.ts'
import * as messages from './0020-messages.ts'

/** All migrations, in order. Never change a released one. */
export const migrations: Migration[] = [
  { name: '0001-start', up: start.up },
  { name: '0002-sharing', up: sharing.up },
  { name: '0003-integrity', up: integrity.up },
  { name: '0004-sessions', up: sessions.up },
  { name: '0005-source-tags', up: sourceTags.up },
  { name: '0006-oidc-trust', up: oidcTrust.up },
  { name: '0007-disabled-users', up: disabledUsers.up },
  { name: '0008-former-names', up: formerNames.up },
  { name: '0009-lost-columns', up: lostColumns.up },
  { name: '0010-versions', up: versions.up },
  { name: '0011-keys', up: keys.up },
  { name: '0012-checks', up: checks.up },
  { name: '0013-drafts', up: drafts.up },
  { name: '0014-trees', up: trees.up },
  { name: '0015-lists', up: lists.up },
  { name: '0016-holds', up: holds.up },
  { name: '0017-objects', up: objects.up },
  { name: '0018-running', up: running.up },
  { name: '0019-referencers', up: referencers.up },
  { name: '0020-messages', up: messages.up },
]
