// Loaded before each test file: properties of short runs try the same cases each time, so that a run can be repeated.
import fc from 'fast-check'
import { isLong } from './property-runs.ts'

if (!isLong) fc.configureGlobal({ seed: 1 })
