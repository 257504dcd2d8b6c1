import { wireFormats } from '../../src/types/unions.ts'
import { clients, wholeClients } from '../formats/support/clients.ts'
import { assert, suite } from '../support/suite.ts'
import { chatEvents, chatResponse, type ErrorAnswer } from './support/responses.ts'
import { questions } from './support/sample-requests.ts'
import { looked, readHeaders } from './support/sample-streams.ts'
import { getAttempts, typed } from './support/unrequested-streams.ts'
import { type End, fakeUpstream, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('responses in the form of a JSON array')

const chunks = readHeaders.gemini.map((event) => JSON.parse(String(event).slice('data: '.length)))

/** Google's format for clients that don't request events: each chunk takes several lines. */
const elements = chunks.map((chunk, index) => `${index === 0 ? '[' : ',\r\n'}${JSON.stringify(chunk, null, 2)}`)
const full = `${elements.join('')}\n]\n`

const types = ['application/json; charset=UTF-8', 'text/event-stream', '']

/** Splits text into single bytes. */
const getBytes = (text: string) => [...new TextEncoder().encode(text)].map((byte) => Uint8Array.of(byte))

const open = (respond: () => Response, connections = ['google', 'one', 'two']) =>
  openWorld({
    fetch: fakeUpstream(({ provider }) => (provider === 'two' ? json(chatResponse('spare')) : respond())),
    connections,
    combos: { chain: ['google/g', 'two/m'], chats: ['one/m', 'two/m'] },
  })

for (const to of wireFormats)
  for (const type of types)
    test(`a Google JSON array becomes a stream if the client requested a stream (${to} client, ${type || 'no content type'})`, async () => {
      for (const pieces of type === '' ? [[full]] : [[full], getBytes(full)]) {
        const world = await open(() => typed(type, pieces))
        const response = await world.post(...questions[to]('google/g', true))
        assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/)
        assert.equal(await clients[to](response), looked)
        const [{ inputTokens, outputTokens } = {}] = world.recorded.usages
        assert.equal([inputTokens, outputTokens], [10, 5])
      }
    })

for (const to of wireFormats)
  for (const type of types)
    test(`a Google JSON array becomes a single response if the client requested one (${to} client, ${type || 'no content type'})`, async () => {
      const world = await open(() => typed(type, [full]))
      const response = await world.post(...questions[to]('google/g', false))
      assert.is(response.headers.get('content-type'), 'application/json')
      assert.equal(await wholeClients[to](response), looked)
      const [{ inputTokens, outputTokens } = {}] = world.recorded.usages
      assert.equal([inputTokens, outputTokens], [10, 5])
    })

test('a Google client that requests a JSON array gets all of it, even byte by byte', async () => {
  const world = await open(() => typed('application/json', getBytes(full)))
  const response = await world.post('/v1beta/models/google/g:streamGenerateContent', { contents: [] })
  assert.is(response.headers.get('content-type'), 'application/json')
  assert.equal(await response.json(), chunks)
})

test('the elements of a JSON array are streamed as they arrive', async () => {
  const world = await open(() => typed('application/json', elements.slice(0, 2), 'hang'))
  const response = await world.post(...questions.gemini('google/g', true))
  const reader = response.body?.getReader()
  for (const chunk of chunks.slice(0, 1))
    assert.equal(JSON.parse(new TextDecoder().decode((await reader?.read())?.value).slice('data: '.length)), chunk)
  await reader?.cancel()
})

test('a JSON array with a single element becomes that element, unchanged', async () => {
  const [, , last] = chunks
  const output = JSON.stringify({ ...last, more: 1 }).replace('"more":1', '"more": 12345678901234567890')
  const world = await open(() => json(` [\n${output}\n]`))
  assert.is(await (await world.post(...questions.gemini('google/g', false))).text(), output)
  const chat = await open(() => json([chatResponse('Hello')]))
  for (const stream of [false, true]) assert.match(await (await chat.chat({ stream })).text(), '"content":"Hello"')
  const count = await open(() => json([{ totalTokens: 7 }]))
  const counted = await count.post('/v1beta/models/google/g:countTokens', { contents: [] })
  assert.equal(await counted.json(), { totalTokens: 7 })
})

test('a JSON array that ends before its last chunk counts as a broken-off stream', async () => {
  for (const [pieces, end] of [
    [elements.slice(0, 2), 'close'],
    [[...elements.slice(0, 2), ',{"candidates":[{"fini'], 'close'],
    [elements.slice(0, 2), 'error'],
  ] as [string[], End][]) {
    const world = await open(() => typed('application/json', pieces, end))
    const text = await (await world.post(...questions.gemini('google/g', true))).text()
    assert.match(text, /"text": "look\."[^\n]*\n\ndata: \{"error":\{"code":502,[^\n]*\n\n$/)
    const response = await world.post(...questions.gemini('chain', false))
    assert.match(getAttempts(response) ?? '', /^google\/g=(?:200|502):(?:content|network);.*, two\/m=200$/)
  }
})

test("a JSON array without content or chunks isn't a valid response", async () => {
  for (const text of ['[]', '[1,"{}",[{}]]', '[{},{}]', '[[[[]]]]', '[', `[${'"'}`])
    for (const stream of [false, true])
      for (const type of types)
        for (const model of ['chain', 'chats']) {
          const world = await open(() => typed(type, [text]))
          const response = await world.chat({ model, stream, messages: [{ role: 'user', content: 'Hi' }] })
          assert.match(getAttempts(response) ?? '', /^\S+=200:content;\S+, two\/m=200$/, text)
        }
})

for (const [status, outcome] of [
  [429, 'rate-limit'],
  [503, 'server'],
  [400, 'client'],
] as const)
  test(`a JSON array with a ${status} error counts as a ${status}, regardless of the provider's format`, async () => {
    const error = { code: status, message: 'It is so.', status: 'SO' }
    const text = JSON.stringify([{ error }], null, 1)
    for (const model of ['google/g', 'one/m'])
      for (const client of ['openai-chat', 'gemini'] as const)
        for (const stream of [false, true])
          for (const type of types.slice(0, stream ? 2 : 1)) {
            const world = await open(() => typed(type, [text]))
            const response = await world.post(...questions[client](model, stream))
            assert.equal([response.status, getAttempts(response)], [status, `${model}=${status}:${outcome}`])
            assert.is(((await response.json()) as ErrorAnswer).error.message, 'It is so.')
          }
  })

test('an error in a JSON array within a stream event is detected before and after the first content', async () => {
  const error = `data: ${JSON.stringify([{ error: { code: 429, message: 'Slow down.', status: 'SO' } }])}\n\n`
  const messages = [{ role: 'user', content: 'Hi' }]
  for (const path of ['/v1/chat/completions', '/v1/messages']) {
    const body = { model: 'one/m', stream: true, max_tokens: 9, messages }
    const early = await (await open(() => typed('text/event-stream', [error]))).post(path, body)
    assert.is(getAttempts(early), 'one/m=429:rate-limit')
    const world = await open(() => typed('text/event-stream', [...chatEvents().slice(0, 3), error]))
    assert.match(await (await world.post(path, body)).text(), /Slow down\.[^\n]*\n\n$/)
    assert.is(world.recorded.requests[0]?.status, 429)
  }
})

test('a JSON array that ends with an error counts as a stream that ends with an error', async () => {
  const error = { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' }
  const world = await open(() => json(`${elements.slice(0, 2).join('')},${JSON.stringify({ error })}]`))
  const text = await (await world.post(...questions.gemini('google/g', true))).text()
  assert.match(text, /data: \{"error":\{"code":503,"message":"Overloaded","status":"UNAVAILABLE"\}\}\n\n$/)
  const response = await world.post(...questions['openai-chat']('google/g', false))
  assert.is(getAttempts(response), 'google/g=503:server')
})
