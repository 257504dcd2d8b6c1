import { chatEvents, chatResponse, messageEvents, messageResponse } from './responses.ts'
import { fakeUpstream, json, type Respond, sse } from './upstream.ts'
import { openWorld, type WorldOptions } from './world.ts'

/** Providers that respond in their own format. */
export const both: Respond = ({ url, body }) => {
  const isMessages = url.pathname.endsWith('/messages')
  if (JSON.parse(body).stream) return sse(isMessages ? messageEvents() : chatEvents())
  return json(isMessages ? messageResponse() : chatResponse())
}

/** Opens a gateway with these providers. `upstream` contains the calls to them. */
export async function open(respond: Respond = both, options: WorldOptions = {}) {
  const upstream = fakeUpstream(respond)
  return { upstream, world: await openWorld({ fetch: upstream, ...options }) }
}
