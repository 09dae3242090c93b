export type { Bytes } from '../contract/http.ts'
