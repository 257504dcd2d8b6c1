/**
 * What a combo may choose by, of one request; worked out when it is asked for. Functions, since getters in an object that is made for each
 * request cost it a hidden class of its own, which outlives it.
 */
export interface RequestFacts {
  /** The name that the client asked for. */
  model: string
  /** Of the body. */
  bytes: number
  stream: boolean
  /** Does the request bring tools? */
  tools(): boolean
  /** Does it hold images? */
  images(): boolean
  /** Of the body's `metadata`. */
  metadata(): Readonly<Record<string, unknown>>
  header(name: string): string | undefined
  /** The same for all requests of a conversation, another one for the next. */
  session(): string
}
