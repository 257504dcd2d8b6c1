import fc from 'fast-check'
import { anyText } from '../support/any-string.ts'
import { randomCases } from '../support/ci.ts'
import { assert, suite } from '../support/suite.ts'
import { chatResponse, messageResponse } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld, token, type World } from './support/world.ts'

const test = suite('arbitrary client input')
/** The number of random cases per route, which is lower on developer machines. */
const RUNS = randomCases(10_000, 200)

const routes = [
  '/v1/chat/completions',
  '/v1/messages',
  '/v1/messages/count_tokens',
  '/v1/responses',
  '/v1/responses/input_tokens',
  '/v1/completions',
  '/v1beta/models/one/m:generateContent',
  '/v1beta/models/claude/c:streamGenerateContent',
  '/v1beta/models/turn:countTokens',
]

async function open() {
  const upstream = fakeUpstream(({ provider, url }) => {
    if (url.pathname.endsWith('/count_tokens')) return json({ input_tokens: 3 })
    return json(provider === 'claude' ? messageResponse() : chatResponse())
  })
  const round = { models: ['one/m', 'two/m'], strategy: 'round-robin' as const }
  return openWorld({ fetch: upstream, combos: { turn: round }, aliases: { alias: 'turn' } })
}

/** Checks that a response is neither unhandled nor a gateway error, and that it is JSON, a stream, or empty. */
async function assertSane(world: World, response: Response, shown: string) {
  assert.not.ok(response.status === 500 || response.status === 502, `${response.status} for ${shown}`)
  const text = await response.text()
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  if (text !== '' && !isStream) JSON.parse(text)
  assert.is(world.recorded.errors.length, 0, shown)
  world.recorded.requests.length = world.recorded.attempts.length = world.recorded.usages.length = 0
}

const value = fc.jsonValue({ maxDepth: 2 })
const model = fc.oneof(
  fc.constantFrom('one/m', 'claude/c', 'turn', 'alias', 'one/', '/', '', ' ', '__proto__', 'constructor', 'one/../two'),
  anyText(),
  value,
)
const name = fc.oneof(
  fc.constantFrom('model', 'stream', 'messages', 'max_tokens', '__proto__', 'toString', 'stream_options'),
  fc.string(),
)
const object = fc
  .tuple(fc.dictionary(name, value, { maxKeys: 4 }), fc.option(model, { nil: undefined }))
  .map(([fields, value]) => (value === undefined ? fields : { ...fields, model: value }))

/** Generates JSON, damaged JSON, or bytes. */
const body = fc.oneof(
  object.map((created) => JSON.stringify(created)),
  fc.tuple(object, fc.nat(), fc.string({ maxLength: 3 })).map(([value, place, damage]) => {
    const text = JSON.stringify(value)
    const index = place % (text.length + 1)
    return text.slice(0, index) + damage + text.slice(index + damage.length)
  }),
  value.map((created) => JSON.stringify(created)),
  fc.uint8Array({ maxLength: 50 }).map((bytes) => new Uint8Array(bytes)),
  anyText(),
)

const headerName = fc.constantFrom(
  'accept',
  'api-key',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'origin',
  'transfer-encoding',
  'x-api-key',
  'x-goog-api-key',
  'anthropic-version',
  'x-signalbox-target',
)
const headerValue = fc.oneof(
  fc.constantFrom(
    'application/json',
    'identity',
    'gzip',
    '-1',
    '99999999999',
    'NaN',
    'Bearer',
    'Bearer ',
    'Bearer a b',
    token,
  ),
  fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)) }),
)
const headers = fc.dictionary(headerName, headerValue, { maxKeys: 4 })

for (const path of routes) {
  test(`arbitrary bodies and headers sent to ${path} get a valid response, ${RUNS} times`, {
    timeoutMs: 90_000,
  }, async () => {
    const world = await open()
    await fc.assert(
      fc.asyncProperty(body, headers, async (sent, extra) => {
        const response = await world.post(path, '', { body: sent as BodyInit, headers: extra })
        await assertSane(world, response, JSON.stringify([sent, extra]))
      }),
      { numRuns: RUNS },
    )
  })
}

const segment = fc.oneof(
  fc.constantFrom(
    'v1',
    'v1beta',
    'api',
    'models',
    'keys',
    'chat',
    'completions',
    'messages',
    '..',
    '.',
    '%2e%2e',
    '%2f',
    '%',
    '%zz',
    '%00',
    '',
  ),
  fc.constantFrom(
    'm:generateContent',
    'settings',
    'connections',
    'combos',
    'aliases',
    'custom',
    'embedding',
    ';',
    '\\',
    '?',
    '#',
    'constructor',
  ),
  anyText({ maxLength: 5 }),
)
const area = fc.constantFrom(
  ...['', '/v1', '/v1beta', '/api', '/v1/models', '/v1beta/models', '/v1/messages', '/api/keys', '/api/combos'],
  ...['/api/connections', '/api/models/aliases', '/api/models/custom', '/api/models/custom/a'],
)
const path = fc.tuple(area, fc.array(segment, { maxLength: 5 })).map(([start, rest]) => [start, ...rest].join('/'))
const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'get')

test(`arbitrary paths, methods, and credentials get a valid response, ${RUNS} times`, {
  timeoutMs: 90_000,
}, async () => {
  const world = await open()
  const authorization = `Bearer ${token}`
  await fc.assert(
    fc.asyncProperty(path, method, body, fc.boolean(), async (spelling, verb, sent, isAdmin) => {
      const init = /^(?:get|head)$/i.test(verb) ? {} : { body: sent as BodyInit }
      const type = { 'content-type': 'application/json' }
      let request: Request
      try {
        request = new Request(`http://gateway/${spelling.replace(/^\//, '')}`, {
          method: verb,
          headers: isAdmin ? { ...type, authorization } : type,
          ...init,
        })
      } catch {
        return // not a valid URL
      }
      const response = await world.gateway.fetch(request)
      await assertSane(world, response, JSON.stringify([verb, spelling, sent, isAdmin]))
    }),
    { numRuns: RUNS },
  )
})

test('arbitrary query strings have no effect', async () => {
  const world = await open()
  await fc.assert(
    fc.asyncProperty(fc.string(), async (query) => {
      const response = await world.post(`/v1/chat/completions?${query}`, '{"model":"one/m"}')
      assert.is(response.status, 200)
    }),
    { numRuns: 300 },
  )
})
