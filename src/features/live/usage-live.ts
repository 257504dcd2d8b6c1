import { gatewayError } from '../../errors.ts'
import { UNCACHED_HEADERS } from '../../request/door/reply.ts'
import type { HttpRoute } from '../../request/door/router.ts'
import type { UsageStore } from '../usage/usage.ts'

/** The path that streams finished requests. It isn't a management operation, because its response doesn't end. */
export const LIVE_USAGE_PATH = '/api/usage/live'

/** Creates the route that streams requests as they end, until the client disconnects. */
export const liveUsageRoute = (usage: UsageStore | undefined): HttpRoute => ({
  method: 'GET',
  path: LIVE_USAGE_PATH,
  async run() {
    if (!usage) throw gatewayError('USAGE_NOT_KEPT')
    return {
      status: 200,
      headers: { 'content-type': 'text/event-stream', ...UNCACHED_HEADERS, 'x-accel-buffering': 'no' },
      body: await usage.streamRequests(),
    }
  },
})
