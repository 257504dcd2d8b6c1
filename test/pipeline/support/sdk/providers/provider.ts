/** The two answers of a provider in its own format: the calls, then the words. */
export interface Provider {
  calls: Said
  answer: Said
}

export interface Said {
  whole: object
  /** Each a server-sent event. */
  events: string[]
}

/** An event without a name. */
export const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`

/** An event that is named as its type. */
export const named = <T extends { type: string }>(value: T): string => `event: ${value.type}\n${data(value)}`
