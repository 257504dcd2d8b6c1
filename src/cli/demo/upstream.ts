import { startCall } from '../../lib/call.ts'
import type { UpstreamFetch } from '../../lib/exchange.ts'
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import { chatAnswer } from './chat.ts'
import { countTokens, messagesAnswer } from './messages.ts'
import { BROKEN, DEMO_BASE_URL, STORYTELLER } from './providers.ts'

/** Answers calls to the demo's address in this process, as a provider would over the wire; all others go to `upstream`. */
export function withDemo(upstream: UpstreamFetch): UpstreamFetch {
  const isDemo = (url: string) => url.startsWith(`${DEMO_BASE_URL}/`)
  const fetch = (input: string, init?: RequestInit) => (isDemo(input) ? answer(input, init) : upstream(input, init))
  return Object.assign(fetch, {
    raw: (call: Parameters<NonNullable<UpstreamFetch['raw']>>[0]) =>
      startCall(isDemo(call.url) ? answer : upstream, call),
  })
}

async function answer(url: string, init: RequestInit = {}): Promise<Response> {
  const path = new URL(url).pathname.slice(new URL(DEMO_BASE_URL).pathname.length)
  if (path === '/models') return Response.json({ object: 'list', data: [BROKEN, STORYTELLER].map(modelOf) })
  const isMessages = path.startsWith('/messages')
  const body = bodyOf(init)
  if (body.model === BROKEN) return failure(503, 'The demo is built so: its first target always fails.', isMessages)
  if (body.model !== STORYTELLER) return failure(404, 'The demo has the models "broken" and "storyteller".', isMessages)
  if (path === '/chat/completions') return chatAnswer(body, init.signal ?? undefined)
  if (path === '/messages') return messagesAnswer(body, init.signal ?? undefined)
  if (path === '/messages/count_tokens') return countTokens(body)
  return failure(404, 'The demo only chats.', isMessages)
}

function bodyOf({ body }: RequestInit): JsonObject {
  const text = body instanceof Uint8Array ? new TextDecoder().decode(body) : String(body)
  const parsed = tryParseJson(text)
  return isObject(parsed) ? parsed : {}
}

function failure(status: 404 | 503, message: string, isMessages: boolean): Response {
  const type = isMessages ? { 404: 'not_found_error', 503: 'api_error' }[status] : 'server_error'
  const error = { type, message }
  return Response.json(isMessages ? { type: 'error', error } : { error }, { status })
}

const modelOf = (id: string) => ({ id, object: 'model', created: 0, owned_by: 'demo' })
