import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import type { ProviderSpecificData } from '../../../src/types.ts'
import { chatResponse, messageResponse } from '../support/responses.ts'
import { fakeUpstream, json, type Respond } from '../support/upstream.ts'
import { openWorld } from '../support/world.ts'

export const TOKEN = 'ya29.a0AfB_byExample'
export const settings: ProviderSpecificData = { project: 'mine' }

const geminiAnswer = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 1, totalTokenCount: 8 },
}

/** Responds to every request to Vertex. */
export const all: Respond = ({ url }) => {
  if (url.pathname.endsWith(':countTokens')) return json({ totalTokens: 12 })
  if (url.pathname.includes('/count-tokens:')) return json({ input_tokens: 12 })
  if (url.pathname.includes('/anthropic/')) return json(messageResponse())
  return json(url.pathname.includes('/openapi/') ? chatResponse() : geminiAnswer)
}

interface Options {
  respond?: Respond
  apiKey?: string
  data?: ProviderSpecificData
}

/** Opens a gateway with a connection to Vertex AI. */
export async function open({ respond = all, apiKey = TOKEN, data = settings }: Options = {}) {
  const upstream = fakeUpstream(respond)
  const connections = [{ provider: 'vertex', apiKey, providerSpecificData: data }]
  return { upstream, world: await openWorld({ fetch: upstream, catalog: defaultCatalog, connections }) }
}

export const GEMINI = 'vertex/gemini-3-flash-preview'
export const CLAUDE = 'vertex/claude-sonnet-4-5@20250929'
export const hello = { model: GEMINI, messages: [{ role: 'user', content: 'Hi' }] }
