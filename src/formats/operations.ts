/**
 * What a client asks for: a line of the table below, which all that differs between operations is read from. A new operation is a new line;
 * the endpoints of formats name theirs.
 */
export interface Operation {
  readonly name: string
  /** May the response stream, where the client asks for that? */
  readonly streams: boolean
  /** What carries it to targets of other formats: the translation of answers, that of counts, or nothing. */
  readonly translation: 'answer' | 'count' | undefined
  /** Does it ask for a summary of the conversation in place of an answer? */
  readonly isCompaction: boolean
  /** May the request ask that a long conversation be summarised first? */
  readonly mayCompact: boolean
  /** Is a whole response an answer of the format? Otherwise any JSON object will do. */
  readonly hasAnswer: boolean
  /** Is the answer put together from events where a provider streams without being asked? */
  readonly gathersEvents: boolean
  /** What is done when no provider has such an endpoint: the tokens are estimated, or the gateway summarises by itself. */
  readonly withoutEndpoint: 'estimate' | 'compact' | undefined
}

const none = {
  streams: false,
  translation: undefined,
  isCompaction: false,
  mayCompact: false,
  hasAnswer: true,
  gathersEvents: false,
  withoutEndpoint: undefined,
} as const

/** All operations. */
export const operations = {
  /** An answer. */
  generate: { ...none, name: 'generate', streams: true, translation: 'answer', mayCompact: true, gathersEvents: true },
  /** The number of tokens of a request for an answer. */
  countTokens: { ...none, name: 'count-tokens', translation: 'count', hasAnswer: false, withoutEndpoint: 'estimate' },
  /** A compaction of a conversation. */
  compact: { ...none, name: 'compact', translation: 'answer', isCompaction: true, withoutEndpoint: 'compact' },
  /** A completion in the sense of `/v1/completions`, which is only passed through. */
  complete: { ...none, name: 'complete', streams: true },
} as const satisfies Record<string, Operation>
