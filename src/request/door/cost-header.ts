import { isByteStream, type Reply } from '../../lib/exchange.ts'
import { formatPlainUsd } from '../../lib/usd.ts'
import type { RequestLog } from '../request-log.ts'

/** The header with the total cost of a request's attempts, in US dollars. Non-streaming responses have it if the cost is known. */
const COST_HEADER = 'x-signalbox-cost'

/** Adds the cost of a request to its reply. */
export function addCostHeader(reply: Reply, { steps }: RequestLog): Reply {
  if (reply.status !== 200 || isByteStream(reply.body)) return reply
  let cost: number | undefined
  for (const step of steps) {
    if (!('outcome' in step)) continue
    if (step.usage && step.costUsd === undefined) return reply
    if (step.costUsd !== undefined) cost = (cost ?? 0) + step.costUsd
  }
  if (cost !== undefined) reply.headers[COST_HEADER] = formatPlainUsd(cost)
  return reply
}
