import type { TokenUsage } from '../protocols/formats/format.ts'
import type { ClientFormat } from '../types.ts'
import type { CostSource } from './cost.ts'

/**
 * Tokens and cost of one successful model request, all attempts included, as passed to `onUsage`. Counts are absent if no provider reported
 * them and they can't be estimated.
 */
export interface UsageRecord extends Partial<TokenUsage> {
  /** The ID of the client's key. Absent if the request had none. */
  keyId?: string
  /** Your app's ID for the account that the request ran as. Absent if there was none. */
  account?: string
  /** The model name from the request. */
  requestedModel: string
  provider: string
  connectionId: string
  model: string
  format: ClientFormat
  streamed: boolean
  /** When the request arrived, in epoch ms. */
  startedAt: number
  durationMs: number
  /** Cost of all attempts in USD. Absent if the price or usage of any of them is unknown. */
  costUsd?: number
  /** Where the counts and the cost come from. Absent if there are no counts. */
  costSource?: CostSource
}
