import { converseResponse } from '../../formats/support/event-stream.ts'
import { assert } from '../../support/suite.ts'
import { chatResponse } from './responses.ts'
import { fakeUpstream, json, type Respond } from './upstream.ts'
import { openWorld, type WorldOptions } from './world.ts'

export const PNG = Uint8Array.from(atob('iVBORw0KGgoAAAANSUhEUg=='), (character) => character.charCodeAt(0))
export const PDF = '%PDF-1.7 page'
export const MIB = 1024 * 1024

export const catalog = {
  google: { baseUrl: 'http://google.test/v1', format: 'gemini', models: [{ id: 'g' }, { id: 'h' }] },
  ollama: { baseUrl: 'http://ollama.test/v1', models: [{ id: 'o' }] },
  bedrock: { cloud: 'bedrock', format: 'bedrock-converse' },
  claude: { baseUrl: 'http://claude.test/v1', format: 'anthropic-messages', models: [{ id: 'c' }] },
  plain: { baseUrl: 'http://plain.test/v1', models: [{ id: 'm' }] },
} as const

export const connections = [
  'google',
  'ollama',
  'claude',
  'plain',
  { provider: 'bedrock', providerSpecificData: { region: 'eu-west-1' } },
]

export const geminiAnswer = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Seen' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 },
}

export const media = (body: BodyInit, type: string, headers: Record<string, string> = {}) =>
  new Response(body, { headers: { ...(type && { 'content-type': type }), ...headers } })

export const redirect = (location: string, status = 302) => new Response(null, { status, headers: { location } })

const providers: Respond = ({ url }) => {
  if (url.pathname.endsWith(':countTokens')) return json({ totalTokens: 77 })
  if (url.hostname === 'google.test') return json(geminiAnswer)
  return url.hostname.startsWith('bedrock') ? json(converseResponse()) : json(chatResponse('Seen'))
}

/** Opens a gateway with `files` responding to all calls except those to providers. */
export async function openMedia(files: Respond, options: WorldOptions = {}) {
  const fetched: string[] = []
  const upstream = fakeUpstream((call, index) => {
    if (/\.test$|amazonaws/.test(call.url.hostname)) return providers(call, index)
    fetched.push(call.url.href)
    return files(call, index)
  })
  const world = await openWorld({ fetch: upstream, catalog, connections, ...options })
  const getSent = (index = -1) =>
    JSON.parse(upstream.calls.filter(({ init }) => init.method === 'POST').at(index)?.body ?? 'null')
  return { upstream, world, fetched, sent: getSent }
}

export const ADDRESS = 'https://images.example.com/a.png'
export const image = (url = ADDRESS) => ({ type: 'image_url', image_url: { url } })
export const createRequest = (model: string, ...parts: object[]) => ({
  model,
  messages: [{ role: 'user', content: parts }],
})
export const document = (url: string) => ({ type: 'document', source: { type: 'url', url } })

export const png: Respond = () => media(PNG, 'image/png')
export const base64 = btoa(String.fromCharCode(...PNG))

/** Returns the error that the client receives for an image that can't be downloaded. */
export async function getError(files: Respond, part: object = image(), options: WorldOptions = {}) {
  const opened = await openMedia(files, options)
  const response = await opened.world.chat(createRequest('google/g', { type: 'text', text: 'What?' }, part))
  const { error } = await response.json()
  assert.is(response.status, 400, error?.message)
  assert.is(error.param, 'messages[0].content[1]')
  assert.is(opened.upstream.calls.filter(({ init }) => init.method === 'POST').length, 0)
  assert.is(opened.upstream.open, 0)
  assert.is(opened.world.clock.pending(), 0)
  assert.equal(opened.world.recorded.errors, [])
  return { ...opened, message: String(error.message) }
}
