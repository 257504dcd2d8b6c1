import { endpoints } from '../../src/protocols/kinds/kinds.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { getSample } from './samples.ts'

const test = suite('errors for Google clients')

const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const paths = endpoints
  .filter(({ format, path }) => format === 'gemini' && /embed/i.test(path))
  .map((endpoint): [string, object] => [endpoint.path, getSample(endpoint)?.body ?? {}])
const audio = { contents, generationConfig: { responseModalities: ['AUDIO'] } }
const image = { contents, generationConfig: { responseModalities: ['IMAGE'] } }
const all: ReadonlyArray<readonly [string, object]> = [
  ...paths,
  ['/v1beta/models/{model}:generateContent', { contents }],
  ['/v1beta/models/{model}:generateContent', audio],
  ['/v1beta/models/{model}:streamGenerateContent', audio],
  ['/v1beta/models/{model}:generateContent', image],
]
const errors: Record<string, (status: number) => Response> = {
  'an OpenAI error': (status) => json({ error: { message: 'no', type: 'invalid_request_error', code: null } }, status),
  'a Google error': (status) => json({ error: { code: status, message: 'no', status: 'INVALID_ARGUMENT' } }, status),
  'a FastAPI error': (status) => json({ detail: [{ loc: ['body', 'a'], msg: 'no', type: 'extra_forbidden' }] }, status),
  'invalid JSON': (status) => new Response('no', { status }),
}

for (const [path, body] of all)
  for (const [label, error] of Object.entries(errors))
    test(`an error from ${path} includes its HTTP status in the body (${label}, ${JSON.stringify(body).length}-byte request)`, async () => {
      for (const provider of ['one/of-any-kind', 'google/of-any-kind'])
        for (const status of [400, 401, 403, 404, 408, 409, 413, 415, 422, 424, 429, 498, 500, 502, 503, 529]) {
          const upstream = fakeUpstream(() => error(status))
          const connections = [{ provider: provider.split('/')[0] ?? '' }]
          const { post } = await openWorld({ fetch: upstream, connections, catalog })
          const response = await post(path.replace('{model}', provider), body)
          const text = await response.text()
          assert.is(Object(JSON.parse(text)).error.code, response.status, `${provider} ${status}: ${text}`)
        }
    })

const catalog = {
  ...defaultCatalog,
  one: { alias: 'one', format: 'openai-chat' as const, baseUrl: 'http://one.test/v1', models: [] },
}
