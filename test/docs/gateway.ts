import { serveNode } from '../../adapters/mount/node.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'

export const ADMIN_TOKEN = 'sbx_admin_of-thirty-two-characters-or-more'
const CHUNK = { choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }] }
const STREAM = `data: ${JSON.stringify(CHUNK)}\n\ndata: [DONE]\n\n`
const USAGE = { prompt_tokens: 1, total_tokens: 1 }

/** A provider's response for each endpoint, by the end of its path. */
const RESPONSES: [path: RegExp, () => Response][] = [
  [/\/chat\/completions$/, () => new Response(STREAM, { headers: { 'content-type': 'text/event-stream' } })],
  [
    /\/embeddings$/,
    () =>
      Response.json({
        object: 'list',
        data: [0, 1].map((index) => ({ index, embedding: [0.1, 0.2] })),
        model: 'm',
        usage: USAGE,
      }),
  ],
  [/\/images\/(?:generations|edits)$/, () => Response.json({ created: 1, data: [{ b64_json: 'iVBORw0KGgo=' }] })],
  [/\/audio\/speech$/, () => new Response(new Uint8Array(64), { headers: { 'content-type': 'audio/mpeg' } })],
  [/\/audio\/transcriptions$/, () => Response.json({ text: 'Hello' })],
  [/\/rerank$/, () => Response.json({ results: [{ index: 0, relevance_score: 0.9 }], meta: {} })],
  [
    /tavily.*\/search$/,
    () => Response.json({ results: [{ title: 'Page', url: 'https://example.com', content: 'Text' }] }),
  ],
  [/\/models$/, () => Response.json({ data: [{ id: 'small' }] })],
]

const respond = (url: string) =>
  RESPONSES.find(([path]) => path.test(url))?.[1]() ??
  new Response('{}', { status: 404, headers: { 'content-type': 'application/json' } })

export interface DocsGateway {
  gateway: Gateway
  url: string
  close(): Promise<void>
}

/** Opens a gateway on a loopback port with in-process providers, and connects the named ones. */
export async function openGateway(...providers: string[]): Promise<DocsGateway> {
  const gateway = createGateway({
    storage: memoryStorage(),
    secret: 'a secret of at least 32 characters',
    logger: false,
    management: { token: ADMIN_TOKEN },
    fetch: async (url: string | URL | Request, init?: RequestInit) =>
      /^http:\/\/127\./.test(String(url)) ? fetch(url, init) : respond(String(url)),
  })
  for (const provider of providers) await gateway.api.connections.create({ provider, apiKey: `sk-${provider}` })
  const server = await serveNode(gateway)
  return {
    gateway,
    url: server.url,
    async close() {
      await server.close({ graceMs: 0 })
      await gateway.close()
    },
  }
}
