import { chatResponse } from './responses.ts'
import { type End, fakeUpstream, getBody, json, type Respond } from './upstream.ts'
import { openWorld, type WorldOptions } from './world.ts'

export const messages = [{ role: 'user', content: 'Hi' }]
export const chain = ['one/m', 'two/m']

/** Opens a chain of two targets. `respond` responds for the first one, and the second one returns "spare". */
export async function openChain(respond: Respond, options: WorldOptions = {}) {
  const upstream = fakeUpstream((call, index) =>
    call.provider === 'one' ? respond(call, index) : json(chatResponse('spare')),
  )
  const world = await openWorld({ fetch: upstream, combos: { chain }, ...options })
  const send = (body: object = {}, init?: RequestInit) => world.chat({ model: 'chain', messages, ...body }, init)
  return { upstream, world, send }
}

/** Creates a chunked response with a content type. */
export const typed = (type: string, chunks: Iterable<string | Uint8Array>, end?: End): Response =>
  new Response(getBody(chunks, end), { headers: { 'content-type': type } })

export const getAttempts = (response: Response): string | null => response.headers.get('x-signalbox-attempts')
