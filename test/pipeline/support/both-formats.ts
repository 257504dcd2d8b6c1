import { chatAnswer, chatEvents, messageAnswer, messageEvents } from './responses.ts'
import { type Answering, fakeUpstream, json, sse } from './upstream.ts'
import { openWorld, type WorldOptions } from './world.ts'

/** Providers that respond in their own format. */
export const both: Answering = ({ url, body }) => {
  const isMessages = url.pathname.endsWith('/messages')
  if (JSON.parse(body).stream) return sse(isMessages ? messageEvents() : chatEvents())
  return json(isMessages ? messageAnswer() : chatAnswer())
}

/** Opens a world with these providers; `up` contains the calls to them. */
export async function open(respond: Answering = both, options: WorldOptions = {}) {
  const upstream = fakeUpstream(respond)
  return { upstream, world: await openWorld({ fetch: upstream, ...options }) }
}
