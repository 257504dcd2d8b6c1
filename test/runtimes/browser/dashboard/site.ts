import { serveNode } from '../../../../adapters/mount/node.ts'
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import { createGateway } from '../../../../src/gateway.ts'
import type { GatewayOptions } from '../../../../src/options.ts'
import { builtDashboard } from '../../../dashboard/built.ts'

/** The admin token for these gateways. */
export const TOKEN = 'a-token-of-the-operator-0123456789'

/**
 * Opens a gateway with its dashboard on a free port. Its provider "openai" responds with far more tokens than `max_tokens` allows. "groq" always
 * fails.
 */
export async function serveDashboard({ port = 0, ...options }: Partial<GatewayOptions> & { port?: number } = {}) {
  const { dashboard } = await builtDashboard()
  const gateway = createGateway({
    storage: memoryStorage(),
    dashboard: dashboard(),
    management: { token: TOKEN },
    secret: 's'.repeat(32),
    logger: false,
    fetch: respond,
    ...options,
  })
  const server = await serveNode(gateway, { port, hostname: '127.0.0.1' })
  return {
    gateway,
    url: server.url,
    send: (body: object, { key = '', basePath = '' } = {}) =>
      fetch(`${server.url}${basePath}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(key !== '' && { authorization: `Bearer ${key}` }) },
        body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], stream: true, max_tokens: 10, ...body }),
      }),
    async close() {
      await Promise.all([gateway.close({ graceMs: 0 }), server.close({ graceMs: 0 })])
    },
  }
}

export type DashboardServer = Awaited<ReturnType<typeof serveDashboard>>

/** The failing provider's error message, which pages show as text, not as HTML. */
export const FAILURE = 'Overloaded, <b>try again</b>'

/** Responds like these gateways' providers. */
export const respond: typeof fetch = async (input) => {
  if (String(input).includes('groq')) return Response.json({ error: { message: FAILURE } }, { status: 503 })
  const usage = { prompt_tokens: 500, completion_tokens: 100_000, total_tokens: 100_500 }
  const events = [
    { choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { choices: [], usage },
  ]
  const text = events
    .map((event) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, ...event })}\n\n`)
    .join('')
  return new Response(`${text}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } })
}
