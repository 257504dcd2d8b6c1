import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import * as ai7 from 'ai'
import OpenAI from 'openai'
import { pii, words } from '../../src/features/guards/guards.ts'
import { chatChunk, chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { ai6 } from '../pipeline/support/sdk/clients/ai.ts'
import { clients } from '../pipeline/support/sdk/clients/clients.ts'
import { QUESTION } from '../pipeline/support/sdk/conversation.ts'
import { assert, suite } from '../support/suite.ts'
import { openWorld, WORD, w } from './world.ts'

const test = suite('guard rejections in the official clients')

const MODEL = 'the-model'
const rejectQuestion = words({ name: 'words', words: ['Oslo'], on: ['request'] })
const onAnswer = words({ name: 'words', words: [WORD] })
const output = ['One. ', `Say ${WORD} `, 'Two.']

async function open(
  guards: Parameters<typeof openWorld>[0],
  { pieces = output, call }: { pieces?: readonly string[]; call?: string } = {},
) {
  const toolCall = (delta: object) => chatChunk({ tool_calls: [{ index: 0, ...delta }] })
  const world = await openWorld(guards, {
    response: chatResponse(pieces.join('')),
    events: [
      chatChunk({ role: 'assistant', content: '' }),
      ...pieces.map((content) => chatChunk({ content })),
      ...(call === undefined
        ? []
        : [
            toolCall({ id: 'a', type: 'function', function: { name: 'get_weather', arguments: '' } }),
            toolCall({ function: { arguments: call } }),
          ]),
      ...chatEvents().slice(-3),
    ],
  })
  await world.api.aliases.set({ alias: MODEL, model: 'one/m' })
  let requests = 0
  const fetch: typeof globalThis.fetch = (input, init) => {
    requests++
    return world.fetch(new Request(input, init))
  }
  return { world, fetch, countRequests: () => requests }
}

/** Returns the HTTP status in a client's error. */
function readStatus(error: unknown): unknown {
  if (ai7.RetryError.isInstance(error)) return 'retried'
  if (!(error instanceof Error)) return undefined
  if ('statusCode' in error) return error.statusCode
  return 'status' in error ? error.status : undefined
}

const fail = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => assert.unreachable(`it returned ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )

for (const [name, { create }] of Object.entries(clients)) {
  for (const stream of [false, true]) {
    const manner = stream ? 'streamed' : 'not streamed'

    test(`a rejected request returns a 400 (${name}, ${manner})`, async () => {
      const { fetch, world } = await open([rejectQuestion])
      const error = await fail(create(fetch).send(MODEL, { stream }))
      assert.is(readStatus(error), 400, String(error))
      assert.match(String(error), 'rejected the content')
      assert.is(world.upstream.calls.length, 0)
    })

    test(`a rejected response ends normally (${name}, ${manner})`, async () => {
      for (const guard of [w, onAnswer]) {
        const { fetch } = await open([{ ...guard, on: ['answer'] }])
        const text = await create(fetch).send(MODEL, { stream })
        assert.ok(text === '' || (stream && text === 'One. '), text)
      }
    })
  }

  test(`a response rejected at its first word ends normally (${name})`, async () => {
    const { fetch } = await open([onAnswer], { pieces: [`${WORD} `, 'Two.'] })
    assert.is(await create(fetch).send(MODEL, { stream: true }), '')
  })

  test(`a rejected tool call doesn't run (${name})`, async () => {
    const { fetch, world } = await open([onAnswer], { pieces: ['One. '], call: `{"city":"${WORD}"}` })
    const received = await create(fetch)
      .converse(MODEL, { stream: true })
      .catch((error: unknown) => {
        if (name !== 'openai, chat completions') throw error
        assert.match(String(error), 'rejected by the content filter') // the tool runner throws
      })
    if (received) assert.equal([received.calls, received.text], [[], 'One. '])
    assert.is(world.upstream.calls.length, 1)
  })

  test(`a masking guard sends a question without personal data unchanged (${name})`, async () => {
    const masks = pii({ name: 'm', types: ['email'], action: 'mask' })
    const probe = await open([masks])
    await create(probe.fetch).send(MODEL, { stream: false })
    assert.match(probe.world.upstream.calls[0]?.body ?? '', QUESTION)
  })
}

test("clients don't retry a rejected request, even with retries enabled", async () => {
  const messages = [{ role: 'user' as const, content: 'Oslo' }]
  const attempts: Record<string, (fetch: typeof globalThis.fetch) => Promise<unknown>> = {
    openai: (fetch) =>
      new OpenAI({ baseURL: 'http://gateway/v1', apiKey: 'x', fetch }).chat.completions.create({
        model: MODEL,
        messages,
      }),
    anthropic: (fetch) =>
      new Anthropic({ baseURL: 'http://gateway', apiKey: 'x', fetch }).messages.create({
        model: MODEL,
        max_tokens: 9,
        messages,
      }),
    google: (fetch) =>
      new GoogleGenAI({
        apiKey: 'x',
        httpOptions: { baseUrl: 'http://gateway', fetch, retryOptions: { attempts: 3 } },
      }).models.generateContent({ model: MODEL, contents: 'Oslo' }),
    ai: (fetch) =>
      ai7.generateText({
        model: ai7.createGateway({ apiKey: 'x', baseURL: 'http://gateway/v4/ai', fetch })(MODEL),
        prompt: 'Oslo',
      }),
    'ai 6': (fetch) =>
      ai6.generateText({
        model: ai6.createGateway({ apiKey: 'x', baseURL: 'http://gateway/v3/ai', fetch })(MODEL),
        prompt: 'Oslo',
      }),
  }
  for (const [name, send] of Object.entries(attempts)) {
    const { fetch, countRequests } = await open([rejectQuestion])
    const error = await fail(send(fetch))
    assert.is(readStatus(error), 400, `${name}: ${error}`)
    assert.is(countRequests(), 1, name)
  }
})

for (const [name, sdk, version] of [
  ['ai', ai7, 'v4'],
  ['ai 6', ai6, 'v3'],
] as const)
  test(`a rejected response has the finish reason content-filter (${name})`, async () => {
    const { fetch } = await open([onAnswer])
    const model = sdk.createGateway({ apiKey: 'x', baseURL: `http://gateway/${version}/ai`, fetch })(MODEL)
    const full = await sdk.generateText({ model, prompt: 'Hi' })
    assert.equal([full.finishReason, full.text], ['content-filter', ''])
    const streamed = sdk.streamText({ model, prompt: 'Hi' })
    assert.is(await streamed.text, 'One. ')
    assert.is(await streamed.finishReason, 'content-filter')
  })
