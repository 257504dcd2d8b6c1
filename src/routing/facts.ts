/**
 * The facts about a request that combos choose by, computed on demand. Functions instead of getters: getters in an object made for each
 * request give it a hidden class of its own, which outlives it.
 */
export interface RequestFacts {
  /** The model name that the client sent. */
  model: string
  /** The size of the body in bytes. */
  bytes: number
  stream: boolean
  /** Does the request bring tools? */
  tools(): boolean
  /** Does it contain images? */
  images(): boolean
  /** The body's `metadata`. */
  metadata(): Readonly<Record<string, unknown>>
  header(name: string): string | undefined
  /** The session: the same for all requests of a conversation. */
  session(): string
}
