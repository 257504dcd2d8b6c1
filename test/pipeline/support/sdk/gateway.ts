import { HttpResponse, http } from 'msw'
import type { JsonObject } from '../../../../src/lib/json.ts'
import type { ClientFormat, WireFormat } from '../../../../src/types.ts'
import { validators } from '../../../formats/support/validators/validators.ts'
import { upstream } from '../../../support/upstream.ts'
import { type Fetch, openWorld } from '../world.ts'
import { messagesProvider } from './providers/anthropic-messages.ts'
import { geminiProvider } from './providers/gemini.ts'
import { chatProvider } from './providers/openai-chat.ts'
import { responsesProvider } from './providers/openai-responses.ts'
import type { Provider } from './providers/provider.ts'

/** One vendor per format under its own name, with a reasoning model. */
const vendors: Readonly<Record<WireFormat, { provider: string; baseUrl: string; model: string; output: Provider }>> = {
  'openai-chat': { provider: 'openai', baseUrl: 'http://openai.test/v1', model: 'gpt-5.1', output: chatProvider },
  'openai-responses': {
    provider: 'openai',
    baseUrl: 'http://openai.test/v1',
    model: 'gpt-5.5',
    output: responsesProvider,
  },
  'anthropic-messages': {
    provider: 'anthropic',
    baseUrl: 'http://anthropic.test/v1',
    model: 'claude-opus-4-8',
    output: messagesProvider,
  },
  gemini: {
    provider: 'google',
    baseUrl: 'http://google.test/v1beta',
    model: 'gemini-3-pro-preview',
    output: geminiProvider,
  },
}

/** The model name that clients use, whichever provider serves the model. It has no slash, because some clients put it in the path unescaped. */
export const MODEL = 'the-model'

/** Opens a gateway in front of a provider of the given format, and a `fetch` that calls the gateway. */
export async function openBefore(format: WireFormat, providerFetch: Fetch) {
  const { provider, baseUrl, model } = vendors[format]
  const world = await openWorld({
    fetch: providerFetch,
    catalog: { [provider]: { baseUrl, format, models: [{ id: model }] } },
    connections: [provider],
    aliases: { [MODEL]: `${provider}/${model}` },
  })
  const fetch: typeof globalThis.fetch = (input, init) => world.gateway.fetch(new Request(input, init))
  return { world, fetch }
}

/** Returns the responses of a provider of the given format. */
export const outputBy = (format: WireFormat): Provider => vendors[format].output

/**
 * Opens a gateway in front of a provider that calls tools, and answers once it has their results. `requests` contains the bodies it received.
 * Translated bodies must follow the vendor's rules. Bodies in the client's own format are the client's responsibility.
 */
export async function openToolLoop(format: WireFormat, clientFormat: ClientFormat) {
  const { baseUrl, output } = vendors[format]
  const requests: JsonObject[] = []
  const response = http.post(`${baseUrl}/*`, async ({ request }) => {
    const body = Object(await request.json())
    requests.push(body)
    const problems = format === clientFormat ? [] : validators[format](body)
    if (problems.length > 0) return HttpResponse.json({ error: { message: problems.join('; ') } }, { status: 400 })
    const { whole, events } = hasResults(body) ? output.response : output.calls
    return isStream(request.url, body)
      ? new HttpResponse(events.join(''), { headers: { 'content-type': 'text/event-stream' } })
      : HttpResponse.json(whole)
  })
  return { ...(await openBefore(format, upstream(response))), requests }
}

const hasResults = (body: JsonObject) =>
  /"(tool_call_id|function_call_output|tool_result|functionResponse)"/.test(JSON.stringify(body))

export const isStream = (url: string, body: JsonObject): boolean =>
  url.includes(':streamGenerateContent') || body.stream === true
