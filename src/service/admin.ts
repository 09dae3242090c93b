// What operators do with a store, without a running service: users, keys, backups, copies, checks.
export {
  createKey,
  createUser,
  deleteUser,
  ensureUser,
  findUser,
  listKeys,
  listUsers,
  loadUserQuota,
  type NewKey,
  revokeKeys,
  setDisabled,
  setUserQuota,
  unlinkUser,
} from './accounts/accounts.ts'
export { addTrust, listTrust, removeTrust } from './accounts/token-exchange.ts'
export { checkNewUsername, renameUser } from './operations/accounts.rename.ts'
export { AUDIT_EVENTS, type AuditRow } from './store/aggregates/audit.ts'
export { withoutCommit } from './store/dry-store.ts'
export { distribute } from './store/engines/distribution.ts'
export { releaseSpace, reserveSpace } from './store/engines/sqlite-reserve.ts'
export { normalizeAddress } from './store/objects/object-store.ts'
export { assertRestorable, backUpDatabase, isDatabaseInUse, restoreDatabase } from './store/sqlite-files.ts'
export { migrateDatabase, openStore, type Store } from './store/store.ts'
export { assertNoUsers, copyDatabase } from './store/upkeep/copy.ts'
export { moveBlobs } from './store/upkeep/move.ts'
export { verifyStore } from './store/upkeep/verify.ts'
