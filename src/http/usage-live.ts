import { gatewayError } from '../errors.ts'
import type { KeptUsage } from '../usage/kept/usage.ts'
import { UNCACHED } from './reply.ts'
import type { HttpRoute } from './router.ts'

/** Where requests are sent as they end. It is no operation, as it has no answer that ends. */
export const LIVE_USAGE = '/api/usage/live'

/** The route that sends requests as they end, until the client leaves. */
export const liveUsageRoute = (usage: KeptUsage | undefined): HttpRoute => ({
  method: 'GET',
  path: LIVE_USAGE,
  async run() {
    if (!usage) throw gatewayError('USAGE_NOT_KEPT')
    return {
      status: 200,
      headers: { 'content-type': 'text/event-stream', ...UNCACHED, 'x-accel-buffering': 'no' },
      body: await usage.live(),
    }
  },
})
