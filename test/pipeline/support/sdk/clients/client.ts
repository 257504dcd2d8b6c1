import type { Received } from '../conversation.ts'

/** How to send a request, and a listener for its response. */
export interface Manner {
  stream: boolean
  signal?: AbortSignal
  /** Receives each chunk of the response. */
  onText?(piece: string): void
}

/** A client, used as its own documentation describes. Rejects with the client's own errors. */
export interface Client {
  /** Sends a single request without tools. */
  send(model: string, manner: Manner): Promise<string>
  /** Runs the entire conversation, including tools. */
  converse(model: string, manner: Manner): Promise<Received>
}

export type CreateClient = (fetch: typeof globalThis.fetch) => Client

/** More responses than this mean that the conversation is going in circles. */
export const MAX_STEPS = 3

/** Collects text and reports each chunk. */
export async function listen<T>(
  chunks: AsyncIterable<T>,
  getText: (chunk: T) => string | undefined,
  onText?: (piece: string) => void,
): Promise<string> {
  let text = ''
  for await (const chunk of chunks) {
    const piece = getText(chunk)
    if (!piece) continue
    text += piece
    onText?.(piece)
  }
  return text
}
