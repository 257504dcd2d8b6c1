import type { JsonObject } from '../../../lib/json.ts'
import type { ClientFormat } from '../../../types.ts'
import { aiSdkRejection } from './ai-sdk-rejection.ts'
import { chatRejection } from './chat-rejection.ts'
import { geminiRejection } from './gemini-rejection.ts'
import { messagesRejection } from './messages-rejection.ts'
import { responsesRejection } from './responses-rejection.ts'

/** Writes rejected responses in a client's format, with the finish reason for filtered content. */
export interface RejectionFormat {
  /** Returns the response without its content. `choices` contains the rejected choices, if the format can reject them individually. */
  writeResponse(response: JsonObject, reason: RejectionReason, choices?: ReadonlySet<number>): JsonObject
  createEnding(request: EndedRequest): StreamEnding
}

/** Ends a stream, continuing from the events that the client has already received. */
export interface StreamEnding {
  /** Called with each event that is sent to the client. */
  observe(event: JsonObject): void
  /** Returns the event that ends one of several choices. Absent if the format can't end individual choices. */
  endChoice?(index: number): JsonObject
  /** Returns the events that close any open items and end the stream. */
  end(reason: RejectionReason, usage: RejectionUsage): string
}

export interface EndedRequest {
  body: JsonObject
  model: string
  /** The current time, in ms. */
  now: number
  /** Called with each item in a Responses stream, as the client receives it. */
  saveItem(item: JsonObject): void
}

export interface RejectionReason {
  message: string
  category: string | undefined
}

/** Estimated tokens, for formats that report usage in their last event. */
export interface RejectionUsage {
  inputTokens: number
  outputTokens: number
}

export const rejectionFormats: Readonly<Record<ClientFormat, RejectionFormat>> = {
  'openai-chat': chatRejection,
  'openai-responses': responsesRejection,
  'anthropic-messages': messagesRejection,
  gemini: geminiRejection,
  'ai-sdk': aiSdkRejection,
}
