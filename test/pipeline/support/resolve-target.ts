import { chatResponse, type ErrorAnswer, messageResponse } from './responses.ts'
import { fakeUpstream, json } from './upstream.ts'
import { openWorld, type WorldOptions } from './world.ts'

/** Opens a gateway. `asked` returns a model name's target as `<connection's host>/<model>`, or the error's status and message. */
export async function routing(options: WorldOptions = {}) {
  const upstream = fakeUpstream(({ url }) =>
    json(url.pathname.includes('messages') ? messageResponse() : chatResponse()),
  )
  const world = await openWorld({ fetch: upstream, ...options })
  const asked = async (model: string, path = '/v1/chat/completions') => {
    const before = upstream.calls.length
    const response = await world.post(path, { model, messages: [] })
    const call = upstream.calls[before]
    if (call) return `${call.provider}/${JSON.parse(call.body).model}`
    return `${response.status} ${((await response.json()) as ErrorAnswer).error.message}`
  }
  return { upstream, world, asked }
}
