import Anthropic, { APIError as AnthropicError } from '@anthropic-ai/sdk'
import OpenAI, { APIError as OpenAIError } from 'openai'
import { assert, suite } from '../support/suite.ts'
import { type Recording, recordedStreams } from './support/recordings.ts'
import { chatEvents, chatResponse, messageEvents, messageResponse } from './support/responses.ts'
import { type End, fakeUpstream, getBody, json, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('the official clients')

const combos = { chain: ['one/m', 'two/m'], talk: ['claude/c', 'claude/d'] }

/** Opens both clients in front of a gateway, and a function that sets the provider's next response. */
async function clients() {
  let next: { bytes: Uint8Array; end: End } = { bytes: new Uint8Array(0), end: 'close' }
  const upstream = fakeUpstream(() => sse(bodyChunks(next.bytes), next.end))
  const world = await openWorld({ fetch: upstream, combos })
  const fetch = (input: string | URL | Request, init?: RequestInit) => world.gateway.fetch(new Request(input, init))
  return {
    upstream,
    openai: new OpenAI({ baseURL: 'http://gateway/v1', apiKey: 'x', maxRetries: 0, fetch }),
    anthropic: new Anthropic({ baseURL: 'http://gateway', apiKey: 'x', maxRetries: 0, fetch }),
    send: (bytes: Uint8Array, end: End = 'close') => {
      next = { bytes, end }
    },
  }
}

function* bodyChunks(bytes: Uint8Array) {
  for (let index = 0; index < bytes.length; index += 611) yield bytes.subarray(index, index + 611)
}

/** Resolves to the text that the client assembles and the error it throws. */
async function read({ openai, anthropic }: Awaited<ReturnType<typeof clients>>, api: Recording['api']) {
  let text = ''
  try {
    if (api === 'chat') {
      for await (const chunk of await openai.chat.completions.create({ model: 'one/m', messages: [], stream: true }))
        text += chunk.choices[0]?.delta?.content ?? ''
    } else {
      const stream = anthropic.messages.stream({ model: 'claude/c', max_tokens: 9, messages: [] })
      for await (const event of stream)
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text
      await stream.finalMessage()
    }
    return { text, error: undefined }
  } catch (error) {
    return { text, error }
  }
}

test('the official clients accept the gateway as their fetch', async () => {
  const responses = { one: chatResponse(), claude: messageResponse() }
  const upstream = fakeUpstream(({ provider }) => json(responses[provider as keyof typeof responses]))
  const { fetch } = (await openWorld({ fetch: upstream })).gateway
  const openai = new OpenAI({ baseURL: 'http://gateway/v1', apiKey: 'x', maxRetries: 0, fetch })
  const anthropic = new Anthropic({ baseURL: 'http://gateway', apiKey: 'x', maxRetries: 0, fetch })
  const chat = await openai.chat.completions.create({ model: 'one/m', messages: [{ role: 'user', content: 'Hi' }] })
  assert.is(chat.choices[0]?.message.content, 'Hello')
  const message = await anthropic.messages.create({ model: 'claude/c', max_tokens: 9, messages: [] })
  assert.equal(message.content, messageResponse().content)
  assert.is((await fetch(new URL('http://gateway/v1/models'), { method: 'OPTIONS' })).status, 204)
})

test('the official clients read recorded streams the same with and without a gateway', async () => {
  const all = await clients()
  for (const { name, api, bytes, read: expected } of recordedStreams()) {
    if (!expected.ok || bytes.length > 12_000) continue
    all.send(bytes)
    const { text, error } = await read(all, api)
    assert.is(error, undefined, `${name}: ${error}`)
    if (!/mistral|openllmetry/.test(name)) assert.is(text, expected.text, name) // these responses have text in several parts, or are legacy completions
  }
})

test('official clients get an error and no duplicated text if a stream is cut off midway', async () => {
  const all = await clients()
  const some = recordedStreams().filter(
    ({ bytes, read: { ok, text } }) => ok && text && bytes.length > 1_400 && bytes.length < 4_000,
  )
  assert.ok(some.length > 20)
  for (const [index, { name, api, bytes, read: expected }] of some.entries()) {
    for (const part of [0.5, 0.75]) {
      const started = bytes.subarray(0, bytes.length * part)
      if (/"(?:finish|stop)_reason":\s*"/.test(new TextDecoder().decode(started))) continue
      all.send(started, index % 2 ? 'error' : 'close')
      const { text, error } = await read(all, api)
      assert.ok(error instanceof OpenAIError || error instanceof AnthropicError, `${name} at ${part}: ${error}`)
      assert.ok((expected.text ?? '').startsWith(text), `${name} at ${part}: ${text}`)
    }
  }
})

test('the official clients read a mid-stream error as an API error with its message', async () => {
  const all = await clients()
  const encode = (events: string[]) => new TextEncoder().encode(events.join(''))
  all.send(
    encode([
      ...chatEvents().slice(0, 3),
      'data: {"error":{"message":"Token limit reached","code":400}}\n\n',
      'data: [DONE]\n\n',
    ]),
  )
  const chat = await read(all, 'chat')
  assert.is(chat.text, 'Hello there, ')
  assert.match(String(chat.error), /Token limit reached/)
  const failed = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
  all.send(encode([...messageEvents().slice(0, 5), failed]))
  const messages = await read(all, 'anthropic')
  assert.is(messages.text, 'Hello there, ')
  assert.match(String(messages.error), /Overloaded/)
  assert.is(all.upstream.calls.length, 2, 'no other target is tried')
})

test('the official clients read errors before the first content with their status and message', async () => {
  const upstream = fakeUpstream(({ provider }) =>
    provider === 'claude'
      ? json({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 529)
      : json({ error: { message: 'Slow down', type: 'rate_limit_error', code: 'rate_limit_exceeded' } }, 429),
  )
  const world = await openWorld({ fetch: upstream, combos })
  const fetch = (input: string | URL | Request, init?: RequestInit) => world.gateway.fetch(new Request(input, init))
  const openai = new OpenAI({ baseURL: 'http://gateway/v1', apiKey: 'x', fetch })
  const anthropic = new Anthropic({ baseURL: 'http://gateway', apiKey: 'x', fetch })
  const chat = await openai.chat.completions.create({ model: 'chain', messages: [] }).catch((error: unknown) => error)
  assert.ok(chat instanceof OpenAI.RateLimitError, String(chat))
  const talk = await anthropic.messages
    .create({ model: 'talk', max_tokens: 9, messages: [] })
    .catch((error: unknown) => error)
  assert.ok(talk instanceof AnthropicError && talk.status === 529, String(talk))
  assert.is(upstream.calls.length, 4, 'neither client retries, and both targets were tried')
})

test("breaking out of an official client's stream cancels the provider call", async () => {
  const upstream = fakeUpstream(
    () => new Response(getBody(chatEvents().slice(0, 4), 'hang'), { headers: { 'content-type': 'text/event-stream' } }),
  )
  const world = await openWorld({ fetch: upstream })
  const fetch = (input: string | URL | Request, init?: RequestInit) => world.gateway.fetch(new Request(input, init))
  const openai = new OpenAI({ baseURL: 'http://gateway/v1', apiKey: 'x', fetch })
  for await (const chunk of await openai.chat.completions.create({ model: 'one/m', messages: [], stream: true })) {
    if (chunk.choices[0]?.delta.content) break
  }
  assert.is(upstream.open, 0)
})
