import { hasAdapters } from '../../src/protocols/kinds/endpoint.ts'
import { endpoints } from '../../src/protocols/kinds/kinds.ts'
import { getSample } from '../kinds/samples.ts'
import { assert, suite } from '../support/suite.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('statuses that the gateway returns only for a provider failure')

const chat = { messages: [{ role: 'user', content: 'Hi' }] }
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]
const headers = {
  'ai-language-model-id': 'one/m',
  'ai-language-model-specification-version': '4',
  'ai-language-model-streaming': 'false',
}

/** Requests that are translated for the provider. */
const requests: ReadonlyArray<readonly [at: string, body: object]> = [
  ['/v1/messages', { model: 'one/m', ...chat, max_tokens: 9 }],
  ['/v1/messages', { model: 'one/m', ...chat, max_tokens: 9, stream: true }],
  ['/v1/responses', { model: 'one/m', input: 'Hi' }],
  ['/v1/chat/completions', { model: 'claude/m', ...chat }],
  ['/v1/chat/completions', { model: 'claude/m', ...chat, stream: true }],
  ['/v1beta/models/one/m:generateContent', { contents }],
  ['/v1beta/models/one/m:streamGenerateContent', { contents }],
  ['/v4/ai/language-model', { prompt }],
]

for (const status of [424, 425, 498])
  for (const [at, body] of requests)
    test(`${at} fails with a 502 after a ${status} (${JSON.stringify(body).slice(0, 20)})`, async () => {
      const upstream = fakeUpstream(() => json({ error: { message: 'It has failed.', type: 'x' } }, status))
      const { post } = await openWorld({ fetch: upstream })
      const response = await post(at, body, { headers })
      const text = await response.text()
      assert.is(response.status, 502, text)
      assert.not.match(text, /"code": ?(?:500|4\d\d)\b/)
      assert.match(text, /It has failed/)
    })

for (const status of [424, 425, 498])
  for (const endpoint of endpoints.filter(hasAdapters))
    test(`${endpoint.path} doesn't return a 500 after a ${status}`, async () => {
      const upstream = fakeUpstream(() => json({ error: { message: 'It has failed.', type: 'x' } }, status))
      const { post } = await openWorld({ fetch: upstream, connections: ['one'] })
      const model = 'one/of-any-kind'
      const body = getSample(endpoint)?.body ?? {}
      const { model: name = '', version = '' } = endpoint.headers ?? {}
      const response = await post(
        endpoint.path.replace('{model}', model),
        endpoint.path.includes('{model}') || name ? body : { model, ...body },
        { headers: name ? { [name]: model, [version]: String(endpoint.version ?? '') } : {} },
      )
      assert.ok([502, status].includes(response.status), `${response.status} ${await response.text()}`)
    })
