// Loaded before each test file: properties of short runs try the same cases each time, so that a run can be repeated.
// Those of nightly runs, of many cases or on other stores, try others each time.
import fc from 'fast-check'
import { isLong } from './property-runs.ts'

if (!isLong && process.env.GRIDLINE_TEST_STORE === undefined) fc.configureGlobal({ seed: 1 })
