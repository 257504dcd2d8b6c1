import type { TokenUsage } from '../formats/format.ts'
import type { ClientFormat } from '../types.ts'
import type { CostSource } from './cost.ts'

/**
 * The tokens and cost of one answered model request with all its attempts, as the hook `onUsage` gets it. Counts are absent when no provider
 * has reported them and nothing can be estimated.
 */
export interface UsageRecord extends Partial<TokenUsage> {
  /** The id of the client's key; absent when the request carried none. */
  keyId?: string
  /** The model name that the client sent. */
  requestedModel: string
  provider: string
  connectionId: string
  model: string
  format: ClientFormat
  streamed: boolean
  /** When the request arrived; epoch ms. */
  startedAt: number
  durationMs: number
  /** In US dollars, of all attempts; absent when the price or the usage of one of them is not known. */
  costUsd?: number
  /** Where the counts and the cost come from; absent without counts. */
  costSource?: CostSource
}
