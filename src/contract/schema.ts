// JSON Schemas as plain objects that carry their TypeScript type. Every command loads the contract, so it has no
// dependencies; `typebox/schema` validates where schemas are checked. See docs/adr/0001.

declare const type: unique symbol

/** JSON Schema of values of type T. */
export interface Schema<T = unknown> {
  readonly [type]?: T
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly minimum?: number
}

export interface ObjectSchema<T = unknown> extends Schema<T> {
  readonly type: 'object'
  readonly properties: Record<string, Schema>
  readonly required: readonly string[]
}

/** TypeScript type that a schema describes. */
export type Static<S> = S extends Schema<infer T> ? T : never

/** Optional property. Only valid inside `object`. */
interface OptionalSchema<T> extends Schema<T> {
  readonly optional: true
}

type Members = Record<string, Schema | OptionalSchema<unknown>>
type OptionalNames<M extends Members> = {
  [K in keyof M]: M[K] extends { optional: true } ? K : never
}[keyof M]
type Shape<M extends Members> = { [K in Exclude<keyof M, OptionalNames<M>>]: Static<M[K]> } & {
  [K in OptionalNames<M>]?: Static<M[K]>
}

interface Notes {
  description?: string
  minimum?: number
  format?: string
}

export const string = (notes: Notes = {}): Schema<string> => ({ type: 'string', ...notes })
export const integer = (notes: Notes = {}): Schema<number> => ({ type: 'integer', ...notes })
export const number = (notes: Notes = {}): Schema<number> => ({ type: 'number', ...notes })
export const boolean = (notes: Notes = {}): Schema<boolean> => ({ type: 'boolean', ...notes })
export const nothing = (): Schema<null> => ({ type: 'null' })
export const anything = (): Schema<unknown> => ({})

export const enumOf = <const V extends readonly string[]>(
  values: V,
  notes: Notes = {},
): Schema<V[number]> => ({
  type: 'string',
  enum: values,
  ...notes,
})

export const array = <S extends Schema>(items: S, notes: Notes = {}): Schema<Static<S>[]> => ({
  type: 'array',
  items,
  ...notes,
})

/** Returns the schema of an object with arbitrary keys and values of one schema. */
export const record = <S extends Schema>(values: S): Schema<Record<string, Static<S>>> =>
  ({ type: 'object', additionalProperties: values }) as Schema<Record<string, Static<S>>>

export const union = <S extends readonly Schema[]>(...anyOf: S): Schema<Static<S[number]>> => ({ anyOf })

export const nullable = <S extends Schema>(schema: S): Schema<Static<S> | null> => ({
  anyOf: [schema, nothing()],
})

export const optional = <S extends Schema>(schema: S): OptionalSchema<Static<S>> & S =>
  // Not enumerable: `optional` is not a JSON Schema keyword, and must not appear in the output.
  Object.defineProperty({ ...schema }, 'optional', { value: true }) as OptionalSchema<Static<S>> & S

export const object = <M extends Members>(properties: M): ObjectSchema<Shape<M>> & { properties: M } => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !('optional' in properties[name])),
})
