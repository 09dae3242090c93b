// Slices of columns for the store, without the readers of files, which short commands do not load.

export { isSparse } from './delimited/sparse.ts'
export { type Bounds, boundsOf, mergeBounds } from './values/bounds.ts'
export { quoteNumbers, type SliceEncoding as Form } from './values/cell-json.ts'
export { findSliceEnds, SliceEnds } from './values/slice-ends.ts'
export { convertTexts, type Rewrite } from './values/text-type.ts'
