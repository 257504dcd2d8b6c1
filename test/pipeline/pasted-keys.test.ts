import { memoryStorage } from '../../adapters/storage/memory.ts'
import { jsonLog } from '../../src/features/observe/log.ts'
import { otel } from '../../src/features/observe/otel.ts'
import { prometheus } from '../../src/features/observe/prometheus.ts'
import { createGateway } from '../../src/gateway.ts'
import { mintClientKey } from '../../src/records/key-format.ts'
import { metered } from '../gate/support/metered-providers.ts'
import { sdk } from '../observe/sdk.ts'
import { assert, suite } from '../support/suite.ts'
import { fakeUpstream } from './support/upstream.ts'
import { catalog, token } from './support/world.ts'

const test = suite('a gateway key pasted into the wrong field')

const messages = [{ role: 'user', content: 'Hi' }]

const percentEncode = (text: string) => Array.from(text, (letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')

/** Requests with the key in different places, and whether a provider may be called. */
const places: Record<string, (key: string) => { path?: string; body?: object; headers?: Record<string, string> }> = {
  'the model of a chat request': (key) => ({ body: { model: key, messages } }),
  'the model with a prefix': (key) => ({ body: { model: `one/${key}`, messages } }),
  'the model of a Messages request': (key) => ({ path: '/v1/messages', body: { model: key, messages, max_tokens: 5 } }),
  'the model of a Responses request': (key) => ({
    path: '/v1/responses',
    body: { model: `Bearer ${key}`, input: 'Hi' },
  }),
  'the model of an embeddings request': (key) => ({ path: '/v1/embeddings', body: { model: key, input: 'Hi' } }),
  'the model in a path': (key) => ({
    path: `/v1beta/models/${key}:generateContent`,
    body: { contents: [{ parts: [{ text: 'Hi' }] }] },
  }),
  'the list of models': (key) => ({
    body: { model: 'one/m', messages },
    headers: { 'x-signalbox-models': `one/${key}, one/m` },
  }),
  'the user': (key) => ({ body: { model: 'one/m', messages, user: key } }),
  'the user of a Messages request': (key) => ({
    path: '/v1/messages',
    body: { model: 'one/m', messages, max_tokens: 5, metadata: { user_id: key } },
  }),
  'the user agent': (key) => ({ body: { model: 'one/m', messages }, headers: { 'user-agent': `app ${key}` } }),
  'a path': (key) => ({ path: `/v1/${key}`, body: {} }),
  'the model in a path, with an encoded letter': (key) => ({
    path: `/v1beta/models/%73${key.slice(1)}:generateContent`,
    body: { contents: [{ parts: [{ text: 'Hi' }] }] },
  }),
  'the model in a path, encoded twice': (key) => ({
    path: `/v1beta/models/one%252F${percentEncode(percentEncode(key))}:generateContent`,
    body: { contents: [{ parts: [{ text: 'Hi' }] }] },
  }),
  'the model of a chat request, encoded': (key) => ({ body: { model: `one/${percentEncode(key)}`, messages } }),
  'a path, with all letters encoded': (key) => ({ path: `/v1/${percentEncode(key)}`, body: {} }),
  'a path, encoded three times': (key) => ({
    path: `/v1/models/${percentEncode(percentEncode(percentEncode(key)))}`,
    body: {},
  }),
  'a field name and its value': (key) => ({ body: { model: 'one/m', messages, [key]: 1, max_tokens: key } }),
}

function decodedFully(text: string): string {
  const decoded = text.replace(/%([0-9a-f]{2})/gi, (_, byte) => String.fromCharCode(Number.parseInt(byte, 16)))
  return decoded === text ? text : decodedFully(decoded)
}

for (const [location, make] of Object.entries(places))
  test(`a pasted key appears in no record, log, span, metric, event, or error: ${location}`, async () => {
    const upstream = fakeUpstream(metered({}, { tokens: 0 }))
    const { module, spans } = sdk()
    const seen: unknown[] = []
    const record = (value: unknown) => void seen.push(value)
    const gateway = createGateway({
      storage: memoryStorage(),
      fetch: upstream,
      catalog,
      management: { token },
      logger: { info: record, warn: record, error: record, debug: record },
      observe: [otel(module), prometheus({ token }), jsonLog(record)],
      hooks: { onRequest: record, onAttempt: record, onUsage: record, onError: record },
    })
    await gateway.api.connections.create({ provider: 'one', apiKey: 'of-one' })
    const key = mintClientKey()
    const { path = '/v1/chat/completions', body = {}, headers = {} } = make(key)
    const live = await gateway.fetch('http://gateway/api/live', { headers: { authorization: `Bearer ${token}` } })
    const events = live.body?.getReader()
    const reply = await gateway.fetch(
      new Request(`http://gateway${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    )
    seen.push(reply.status >= 400 ? await reply.text() : '', [...reply.headers])
    await new Promise((resolve) => setTimeout(resolve, 20))
    seen.push(
      spans().map(({ name, attributes }) => [name, attributes]),
      await gateway.api.usage.requests(),
      await gateway.api.health.list(),
      await (await gateway.fetch('http://gateway/metrics', { headers: { authorization: `Bearer ${token}` } })).text(),
    )
    await events?.cancel()
    const text = JSON.stringify(seen, (_, value) =>
      value instanceof Error ? [value.message, String(value.cause)] : value,
    )
    assert.not.match(decodedFully(text), key.slice(1))
    if (/model/.test(location)) assert.equal([reply.status, upstream.calls.length], [404, 0])
    await gateway.close()
  })
