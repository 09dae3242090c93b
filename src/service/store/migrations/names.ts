// Names of all migrations, in order: a database that has them all needs none of their code.

export const MIGRATION_NAMES = [
  '0001-start',
  '0002-sharing',
  '0003-integrity',
  '0004-sessions',
  '0005-source-tags',
  '0006-oidc-trust',
  '0007-disabled-users',
  '0008-former-names',
  '0009-lost-columns',
  '0010-versions',
  '0011-keys',
  '0012-checks',
  '0013-drafts',
  '0014-trees',
  '0015-lists',
  '0016-holds',
  '0017-objects',
  '0018-running',
  '0019-referencers',
  '0020-messages',
  '0021-titles',
  '0022-derivations',
  '0023-alerts',
  '0024-mailings',
] as const
export type MigrationName = (typeof MIGRATION_NAMES)[number]
