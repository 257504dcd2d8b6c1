import { memoryStorage } from '../../adapters/storage/memory.ts'
import { editText, type TextEditor } from '../../src/features/edit-text/edit-text.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Feature } from '../../src/index.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import {
  chatChunk,
  chatEvents,
  chatResponse,
  messageEvents,
  messageResponse,
  ping,
  textDelta,
} from '../pipeline/support/responses.ts'
import { fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('editing response text')

const WORD = 'SESAME'

/** Masks the word, even if it is split across chunks. */
function createMasker(): TextEditor {
  let held = ''
  return {
    push(piece) {
      const text = (held + piece).replaceAll(WORD, '******')
      let kept = WORD.length - 1
      while (kept > 0 && !text.endsWith(WORD.slice(0, kept))) kept--
      held = text.slice(text.length - kept)
      return text.slice(0, text.length - kept)
    },
    end: () => held,
  }
}

const masking: Feature = {
  name: 'masking',
  aroundCall: async (call, next) => editText(call, await next(), createMasker),
}

/** A request in each client format. The target gets it in its own format. */
const clients: Record<string, { path(stream: boolean): string; body: JsonObject; headers?: Record<string, string> }> = {
  'openai-chat': { path: () => '/v1/chat/completions', body: { messages: [{ role: 'user', content: 'Hi' }] } },
  'openai-responses': { path: () => '/v1/responses', body: { input: 'Hi' } },
  'anthropic-messages': {
    path: () => '/v1/messages',
    body: { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
  },
  gemini: {
    path: (stream) => `/v1beta/models/one/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  },
  'gemini, as an array': {
    path: (stream) => `/v1beta/models/one/m:${stream ? 'streamGenerateContent' : 'generateContent'}`,
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  },
  'ai-sdk': {
    path: () => '/v3/ai/language-model',
    headers: { 'ai-language-model-id': 'one/m', 'ai-language-model-specification-version': '3' },
    body: { prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] },
  },
}

interface Upstream {
  events?: readonly string[]
  response?: object
  /** The format of the target. */
  format?: string
}

/** Opens a gateway with features and one target. Returns a function that sends a request in a client format. */
async function open(
  extend: readonly Feature[],
  { events = [], response: reply = chatResponse(), format = 'openai-chat' }: Upstream,
) {
  const isStream = ({ url, body }: { url: URL; body: string }) => /stream/.test(url.href) || JSON.parse(body).stream
  const fetch = fakeUpstream((call) => (isStream(call) ? sse([...events]) : json(reply)))
  const gateway = createGateway({ storage: memoryStorage(), fetch, logger: false, extend })
  await gateway.api.connections.create({
    provider: 'openai-compatible-one',
    apiKey: 'k',
    providerSpecificData: { baseUrl: 'https://one.test/v1', prefix: 'one', format: format as 'openai-chat' },
  })
  return async (name: string, stream: boolean) => {
    const { path, body, headers } = clients[name] ?? {}
    const isInBody = name.startsWith('openai') || name.startsWith('anthropic')
    const response = await gateway.fetch(`http://gateway${path?.(stream)}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...headers,
        ...(name === 'ai-sdk' && { 'ai-language-model-streaming': `${stream}` }),
      },
      body: JSON.stringify({ ...body, ...(isInBody && { model: 'one/m', stream }) }),
    })
    const text = await response.text()
    assert.is(response.status, 200, text)
    return text
  }
}

/** Returns all strings in a response or its events by field name, joined. */
function readTexts(text: string, isStream: boolean): string {
  const events =
    isStream && !text.startsWith('[') ? [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, data = '']) => data) : [text]
  let message = ''
  JSON.parse(`[${events.join()}]`, (key, value) => {
    if (['content', 'text', 'delta'].includes(key) && typeof value === 'string') message += value
    return value
  })
  return message
}

for (const name of Object.keys(clients)) {
  test(`a feature can mask a word in a non-streaming response (${name})`, async () => {
    const send = await open([masking], { response: chatResponse('Open SESAME now, SESAME') })
    const text = await send(name, false)
    assert.not.match(text, WORD)
    assert.match(readTexts(text, false), 'Open ****** now, ******')
  })

  for (const [title, pieces] of [
    ['in one chunk', ['Open ', 'SESAME', ' now']],
    ['split across two chunks', ['Open SES', 'AME now']],
    ['letter by letter', [...'Open SESAME now']],
    ['at the end', ['Open SESA', 'ME']],
    ['incomplete at the end of the stream', ['Open SE', 'SESAM']],
  ] as const)
    test(`a feature can mask a word in a stream, ${title} (${name})`, async () => {
      const events = [
        chatChunk({ role: 'assistant', content: '' }),
        ...pieces.map((content) => chatChunk({ content })),
        ...chatEvents().slice(-3),
      ]
      const text = await (await open([masking], { events }))(name, true)
      const plain = await (await open([], { events }))(name, true)
      assert.not.match(text, WORD)
      assert.is(readTexts(text, true), readTexts(plain, true).replaceAll(WORD, '******'))
    })
}

const toEvents = (text: string) => text.match(/[\s\S]+?\n\n/g) ?? []

for (const name of ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'])
  test(`a feature can mask a word in passthrough responses and streams (${name})`, async () => {
    const chat = {
      events: [...'Open SESAME now'].map((content) => chatChunk({ content })).concat(chatEvents().slice(-3)),
    }
    const events = toEvents(await (await open([], chat))(name, true))
    const response: object = JSON.parse(
      await (await open([], { response: chatResponse('Open SESAME now') }))(name, false),
    )
    const plain = await open([], { events, response, format: name })
    const masked = await open([masking], { events, response, format: name })
    for (const isStream of [true, false]) {
      const [before, after] = [await plain(name, isStream), await masked(name, isStream)]
      assert.match(readTexts(before, isStream), WORD)
      assert.is(readTexts(after, isStream), readTexts(before, isStream).replaceAll(WORD, '******'))
    }
  })

test('an editor that changes nothing leaves every byte unchanged', async () => {
  const harmless: Feature = {
    name: 'harmless',
    aroundCall: async (call, next) => editText(call, await next(), () => ({ push: (piece) => piece, end: () => '' })),
  }
  const events = [': comment\n\n', ...messageEvents('Hello  there,\u2028 world')]
  const response = { ...messageResponse(), big: 12345678901 }
  const [plain, edited] = await Promise.all(
    [[], [harmless]].map((extend) => open(extend, { events, response, format: 'anthropic-messages' })),
  )
  for (const isStream of [true, false])
    assert.is(await edited?.('anthropic-messages', isStream), await plain?.('anthropic-messages', isStream))
})

test('buffered text is sent before a ping and before its block ends, and Responses events stay numbered', async () => {
  const events = messageEvents('')
  events.splice(3, 1, textDelta('Open SES'), ping, textDelta('AM'))
  const format = 'anthropic-messages'
  const text = await (await open([masking], { events, format }))(format, true)
  const types = Array.from(text.matchAll(/^data: (.*)$/gm), ([, data = '']) => JSON.parse(data))
  assert.equal(types.map(({ type, delta }) => delta?.text ?? type).slice(2, -2), [
    'ping',
    'Open ',
    'ping',
    '',
    'SESAM',
    'content_block_stop',
  ])
  const cut = [...'Open SESA'].map((content) => chatChunk({ content })).concat(chatEvents().slice(-3))
  const responses = await (await open([masking], { events: cut }))('openai-responses', true)
  const numbers = Array.from(responses.matchAll(/"sequence_number":(\d+)/g), ([, number]) => Number(number))
  assert.ok(numbers.length > 10)
  assert.equal(numbers, Array.from(numbers.keys()))
})

test("text in choices, reasoning, and tool calls is edited separately, and names and IDs don't change", async () => {
  const choice = (index: number, delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'SESAME', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index, delta, finish_reason }] })}\n\n`
  const call = (name: string | undefined, text: string) => ({
    tool_calls: [
      {
        index: 0,
        ...(name && { id: 'SESAME', type: 'function' }),
        function: { ...(name && { name }), arguments: text },
      },
    ],
  })
  const events = [
    choice(0, { reasoning_content: 'think SES' }),
    choice(1, { content: 'SES' }),
    choice(0, { reasoning_content: 'AME' }),
    choice(0, { content: 'SESA' }),
    choice(1, { content: 'AME' }, 'stop'),
    choice(0, { content: 'ME said' }),
    choice(0, call('SESAME', '{"word":"SES')),
    choice(0, call(undefined, 'AME"}')),
    choice(0, {}, 'tool_calls'),
    'data: [DONE]\n\n',
  ]
  const seen: boolean[] = []
  const selective: Feature = {
    name: 'selective',
    aroundCall: async (request, next) =>
      editText(request, await next(), ({ isReasoning }) => {
        seen.push(isReasoning)
        return isReasoning ? undefined : createMasker()
      }),
  }
  const text = await (await open([selective], { events }))('openai-chat', true)
  const output: Record<string, string> = {}
  for (const [, data = ''] of text.matchAll(/^data: (\{.*\})$/gm)) {
    const { id, choices } = JSON.parse(data)
    assert.is(id, 'SESAME')
    for (const { index, delta } of choices)
      for (const [field, value] of Object.entries<unknown>({ ...delta, ...delta.tool_calls?.[0]?.function }))
        if (typeof value === 'string') output[`${index} ${field}`] = `${output[`${index} ${field}`] ?? ''}${value}`
  }
  assert.equal(output, {
    '0 reasoning_content': 'think SESAME',
    '1 content': '******',
    '0 content': '****** said',
    '0 name': 'SESAME',
    '0 arguments': '{"word":"******"}',
  })
  assert.equal(seen, [true, false, false, false])
})

test('token log probabilities are removed from edited responses', async () => {
  const response = chatResponse('SESAME')
  const logprobs = { content: [{ token: 'SESAME', logprob: -1, top_logprobs: [] }] }
  Object.assign(response.choices[0] ?? {}, { logprobs })
  const changed = JSON.parse(await (await open([masking], { response }))('openai-chat', false))
  assert.is(changed.choices[0].logprobs, null)
  Object.assign(response, chatResponse('Hello'))
  Object.assign(response.choices[0] ?? {}, { logprobs })
  const same = JSON.parse(await (await open([masking], { response }))('openai-chat', false))
  assert.equal(same.choices[0].logprobs, logprobs)
})

for (const name of ['openai-chat', 'anthropic-messages', 'openai-responses'])
  test(`an editor that rejects ends the stream with an error event, and no more text is sent (${name})`, async () => {
    const rejecting: Feature = {
      name: 'rejecting',
      aroundCall: async (call, next) =>
        editText(call, await next(), () => ({
          push: async (piece) => (piece.includes('there') ? call.reject('Not allowed.') : piece),
          end: () => '',
        })),
    }
    const text = await (await open([rejecting], { events: chatEvents() }))(name, true)
    assert.match(text, 'Hello')
    assert.match(text, 'Not allowed.')
    assert.not.match(text, /there|world|\[DONE\]/)
  })

test("editing leaves a provider's error unchanged", async () => {
  const upstream = fakeUpstream(({ url }) =>
    /embeddings/.test(url.href) ? json({ data: [] }, 200) : json({ error: { message: WORD } }, 400),
  )
  const gateway = createGateway({ storage: memoryStorage(), fetch: upstream, logger: false, extend: [masking] })
  await gateway.api.connections.create({
    provider: 'openai-compatible-one',
    apiKey: 'k',
    providerSpecificData: { baseUrl: 'https://one.test/v1', prefix: 'one' },
  })
  const response = await gateway.fetch('http://gateway/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'one/m', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  assert.is(response.status, 400)
  assert.match(await response.text(), WORD)
})
