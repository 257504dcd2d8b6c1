import type { Heard } from '../conversation.ts'

/** Leads the conversation as the client's own manual says, tools and all. */
export interface Client {
  converse(model: string, how: { stream: boolean }): Promise<Heard>
}

export type CreateClient = (fetch: typeof globalThis.fetch) => Client

/** More answers than this, and something goes in circles. */
export const MAX_STEPS = 3
