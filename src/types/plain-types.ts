/** A whole number, also in the OpenAPI document. */
export type Integer = number

/** A time in ISO 8601. */
export type IsoTime = string
