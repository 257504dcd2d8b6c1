import { chatAnswer, type ErrorAnswer, messageAnswer } from './responses.ts'
import { fakeUpstream, json } from './upstream.ts'
import { openWorld, type WorldOptions } from './world.ts'

/** Opens a world. Its `asked` returns the target of a model name as `<connection's host>/<model>`, or the status and message of the error. */
export async function routing(options: WorldOptions = {}) {
  const up = fakeUpstream(({ url }) => json(url.pathname.includes('messages') ? messageAnswer() : chatAnswer()))
  const world = await openWorld({ fetch: up, ...options })
  const asked = async (model: string, path = '/v1/chat/completions') => {
    const before = up.calls.length
    const response = await world.post(path, { model, messages: [] })
    const call = up.calls[before]
    if (call) return `${call.provider}/${JSON.parse(call.body).model}`
    return `${response.status} ${((await response.json()) as ErrorAnswer).error.message}`
  }
  return { up, world, asked }
}
