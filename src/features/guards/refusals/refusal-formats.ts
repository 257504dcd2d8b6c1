import type { JsonObject } from '../../../lib/json.ts'
import type { ClientFormat } from '../../../types.ts'
import { aiSdkRefusal } from './ai-sdk-refusal.ts'
import { chatRefusal } from './chat-refusal.ts'
import { geminiRefusal } from './gemini-refusal.ts'
import { messagesRefusal } from './messages-refusal.ts'
import { responsesRefusal } from './responses-refusal.ts'

/** Writes refused responses in a client's format, with the finish reason for filtered content. */
export interface RefusalFormat {
  /** Returns the response without its content. `choices`: the refused choices, if the format can refuse them individually. */
  writeWhole(response: JsonObject, reason: RefusalReason, choices?: ReadonlySet<number>): JsonObject
  createEnding(request: EndedRequest): StreamEnding
}

/** Ends a stream after the events that the client has received. */
export interface StreamEnding {
  /** Gets each event that is sent to the client. */
  observe(event: JsonObject): void
  /** Returns the event that ends one of several choices; absent if the format can't end it individually. */
  endChoice?(index: number): JsonObject
  /** Returns the events that close open items and end the stream. */
  end(reason: RefusalReason, usage: RefusalUsage): string
}

export interface EndedRequest {
  body: JsonObject
  model: string
  /** In milliseconds. */
  now: number
  /** Gets each item of a Responses stream as the client receives it. */
  keepItem(item: JsonObject): void
}

export interface RefusalReason {
  message: string
  category: string | undefined
}

/** Estimated tokens, for formats whose last event reports the usage. */
export interface RefusalUsage {
  inputTokens: number
  outputTokens: number
}

export const refusalFormats: Readonly<Record<ClientFormat, RefusalFormat>> = {
  'openai-chat': chatRefusal,
  'openai-responses': responsesRefusal,
  'anthropic-messages': messagesRefusal,
  gemini: geminiRefusal,
  'ai-sdk': aiSdkRefusal,
}
