/** A whole number. The OpenAPI document says so, too. */
export type Integer = number

/** A time in ISO 8601. */
export type IsoTime = string
