import { chatAnswer } from './responses.ts'
import { type Answering, bodyOf, type End, fakeUpstream, json } from './upstream.ts'
import { openWorld, type WorldOptions } from './world.ts'

export const messages = [{ role: 'user', content: 'Hi' }]
export const chain = ['one/m', 'two/m']

/** Opens a chain of two targets. The first responds with `answer`, the second with "spare". */
export async function openChain(respond: Answering, options: WorldOptions = {}) {
  const upstream = fakeUpstream((call, nth) =>
    call.provider === 'one' ? respond(call, nth) : json(chatAnswer('spare')),
  )
  const world = await openWorld({ fetch: upstream, combos: { chain }, ...options })
  const send = (body: object = {}, init?: RequestInit) => world.chat({ model: 'chain', messages, ...body }, init)
  return { upstream, world, send }
}

/** Creates a chunked response with a content type. */
export const typed = (type: string, chunks: Iterable<string | Uint8Array>, end?: End): Response =>
  new Response(bodyOf(chunks, end), { headers: { 'content-type': type } })

export const attemptsOf = (response: Response): string | null => response.headers.get('x-signalbox-attempts')
