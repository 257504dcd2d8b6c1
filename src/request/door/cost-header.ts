import { isByteStream, type Reply } from '../../lib/exchange.ts'
import { formatPlainUsd } from '../../lib/usd.ts'
import type { RequestLog } from '../request-log.ts'

/** The header with the total cost of a request's attempts, in US dollars. Non-streaming responses have it if the cost is known. */
const COST_HEADER = 'x-signalbox-cost'

/** The header with the tokens that were read from and written to the provider's prompt cache. */
const CACHE_HEADER = 'x-signalbox-prompt-cache'

/** Adds headers with the request's cost and its prompt-cache usage to the reply. */
export function addCostHeaders(reply: Reply, { steps, chargedUsd }: RequestLog): Reply {
  if (reply.status !== 200 || isByteStream(reply.body)) return reply
  let cost = chargedUsd
  for (const step of steps) {
    if (!('outcome' in step)) continue
    const { promptCache } = step
    if (promptCache)
      reply.headers[CACHE_HEADER] = `read=${promptCache.read}; written=${promptCache.written}; by=${promptCache.by}`
    if (step.usage && step.costUsd === undefined) return reply
    if (step.costUsd !== undefined) cost = (cost ?? 0) + step.costUsd
  }
  if (cost !== undefined) reply.headers[COST_HEADER] = formatPlainUsd(cost)
  return reply
}
