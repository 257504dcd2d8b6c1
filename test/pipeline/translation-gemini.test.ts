import { assert, suite } from '../support/suite.ts'
import { open } from './support/both-formats.ts'
import { sse } from './support/upstream.ts'

const test = suite('translation for Google clients')

const geminiResponse = (text: string, finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, ...(finishReason && { finishReason }), index: 0 }],
  usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 },
})

const geminiEvents = ['Hello ', 'there'].map(
  (text, index) => `data: ${JSON.stringify(geminiResponse(text, index ? 'STOP' : undefined))}\r\n\r\n`,
)

const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]

test("a Google client that doesn't request events gets a single JSON array", async () => {
  const google = await open(() => sse(geminiEvents), { connections: ['google'] })
  const response = await google.world.post('/v1beta/models/google/g:streamGenerateContent', { contents })
  assert.is(response.headers.get('content-type'), 'application/json')
  assert.equal(await response.json(), [geminiResponse('Hello '), geminiResponse('there', 'STOP')])
  assert.is(google.upstream.calls[0]?.url.href, 'http://google.test/v1/models/g:streamGenerateContent?alt=sse')
  const { world } = await open()
  const other = await world.post('/v1/models/one/m:streamGenerateContent', { contents })
  const text = (await other.json()).map(
    (part: ReturnType<typeof geminiResponse>) => part.candidates[0]?.content.parts[0]?.text ?? '',
  )
  assert.is(text.join(''), 'Hello there, world')
})

test("a Google client's request is passed through to Google, and other providers respond with events", async () => {
  const { upstream, world } = await open(() => sse(geminiEvents), { connections: ['google'] })
  const response = await world.post('/v1beta/models/google/g:streamGenerateContent?alt=sse', { contents })
  assert.is(await response.text(), geminiEvents.join(''))
  assert.equal(JSON.parse(upstream.calls[0]?.body ?? ''), { contents })
  assert.is(upstream.calls[0]?.headers.get('x-goog-api-key'), 'secret-of-google')
  const other = await open()
  const text = await (await other.world.post('/v1/models/one/m:streamGenerateContent?alt=sse', { contents })).text()
  assert.match(text, /^data: \{"candidates":/)
})

test("the AI SDK's Google client works, although it omits the models folder if a name contains a slash", async () => {
  const { world } = await open(undefined, { aliases: { 'a/b/c': 'one/m' } })
  for (const path of ['/v1beta/one/m', '/v1/one/m', '/v1beta/a/b/c']) {
    const response = await world.post(`${path}:generateContent`, { contents })
    assert.is(response.status, 200, path)
    assert.is((await response.json()).candidates[0].content.parts[0].text, 'Hello')
  }
  const unknown = await world.post('/v1beta/nobody/m:generateContent', { contents })
  assert.match((await unknown.json()).error.message, /nobody\/m/)
})

test("clients of other formats get errors that Google sends outside a stream's events", async () => {
  const error = JSON.stringify({ error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }, null, 2)
  const chunks = [geminiEvents[0] ?? '', error]
  const { world } = await open(() => sse(chunks), { connections: ['google'] })
  const body = { model: 'google/g', messages: [{ role: 'user', content: 'Hi' }], stream: true }
  assert.match(
    await (await world.chat(body)).text(),
    /Hello [\s\S]*data: \{"error":\{"message":"Overloaded"[^\n]+\n\n$/,
  )
  const response = await world.messages({ ...body, stream: false })
  assert.equal([response.status, (await response.json()).error.message], [529, 'Overloaded'])
})
