/** A provider's two responses in its own format: first the tool calls, then the text. */
export interface Provider {
  calls: ModelOutput
  response: ModelOutput
}

export interface ModelOutput {
  whole: object
  /** One server-sent event per element. */
  events: string[]
}

/** Formats an event without a name. */
export const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`

/** Formats an event with its type as the name. */
export const formatEvent = <T extends { type: string }>(value: T): string => `event: ${value.type}\n${data(value)}`
