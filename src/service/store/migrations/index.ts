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
import * as titles from './0021-titles.ts'
import * as derivations from './0022-derivations.ts'
import * as alerts from './0023-alerts.ts'
import * as mailings from './0024-mailings.ts'
import * as shareItems from './0025-share-items.ts'
import * as mailingFilters from './0026-mailing-filters.ts'
import * as words from './0027-words.ts'
import * as staleFiles from './0028-stale-files.ts'
import * as boardItems from './0029-board-items.ts'
import * as derivedFromUrls from './0030-derived-from-urls.ts'
import * as publicBoards from './0031-public-boards.ts'
import * as packs from './0032-packs.ts'
import { MIGRATION_NAMES, type MigrationName } from './names.ts'

const steps: Record<MigrationName, Omit<Migration, 'name'>> = {
  '0001-start': { up: start.up },
  '0002-sharing': { up: sharing.up },
  '0003-integrity': { up: integrity.up },
  '0004-sessions': { up: sessions.up },
  '0005-source-tags': { up: sourceTags.up },
  '0006-oidc-trust': { up: oidcTrust.up },
  '0007-disabled-users': { up: disabledUsers.up },
  '0008-former-names': { up: formerNames.up },
  '0009-lost-columns': { up: lostColumns.up },
  '0010-versions': { up: versions.up },
  '0011-keys': { up: keys.up },
  '0012-checks': { up: checks.up },
  '0013-drafts': { up: drafts.up },
  '0014-trees': { up: trees.up },
  '0015-lists': { up: lists.up },
  '0016-holds': { up: holds.up },
  '0017-objects': { up: objects.up },
  '0018-running': { up: running.up },
  '0019-referencers': { up: referencers.up },
  '0020-messages': { up: messages.up },
  '0021-titles': { up: titles.up },
  '0022-derivations': { up: derivations.up },
  '0023-alerts': { up: alerts.up },
  '0024-mailings': { up: mailings.up },
  '0025-share-items': { up: shareItems.up },
  '0026-mailing-filters': { up: mailingFilters.up },
  '0027-words': { up: words.up },
  '0028-stale-files': { up: staleFiles.up },
  '0029-board-items': { up: boardItems.up },
  '0030-derived-from-urls': { up: derivedFromUrls.up },
  '0031-public-boards': { up: publicBoards.up },
  '0032-packs': { up: packs.up },
}

/** All migrations, in order. Never change a released one. */
export const migrations: Migration[] = MIGRATION_NAMES.map((name) => ({ name, ...steps[name] }))
