import type { Heard } from '../conversation.ts'

/** How something is asked for, and who wants to know of it. */
export interface Manner {
  stream: boolean
  signal?: AbortSignal
  /** A piece of the answer has come. */
  onText?(piece: string): void
}

/** A client as its own manual says to use it. Rejects with the client's own errors. */
export interface Client {
  /** Asks once, without tools. */
  ask(model: string, manner: Manner): Promise<string>
  /** Leads the whole conversation, tools and all. */
  converse(model: string, manner: Manner): Promise<Heard>
}

export type CreateClient = (fetch: typeof globalThis.fetch) => Client

/** More answers than this, and something goes in circles. */
export const MAX_STEPS = 3

/** Puts a text together, and tells of each piece. */
export async function listen<T>(
  chunks: AsyncIterable<T>,
  textOf: (chunk: T) => string | undefined,
  onText?: (piece: string) => void,
): Promise<string> {
  let text = ''
  for await (const chunk of chunks) {
    const piece = textOf(chunk)
    if (!piece) continue
    text += piece
    onText?.(piece)
  }
  return text
}
