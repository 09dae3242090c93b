import type { Migration } from '../engine.ts'
import * as start from './0001-start.ts'

/** In order; a migration that has been released is never changed. */
export const migrations: Migration[] = [{ name: '0001-start', up: start.up }]
