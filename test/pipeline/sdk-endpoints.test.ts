import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { wireFormats } from '../../src/types/unions.ts'
import type { WireFormat } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { QUESTION } from './support/sdk/conversation.ts'
import { MODEL, openBefore } from './support/sdk/gateway.ts'
import { type Call, fakeUpstream, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('other endpoints that the SDKs call')

type Fetch = typeof globalThis.fetch

const openai = (fetch: Fetch) => new OpenAI({ baseURL: 'http://gateway/v1', apiKey: 'x', maxRetries: 0, fetch })
const anthropic = (fetch: Fetch) => new Anthropic({ baseURL: 'http://gateway', apiKey: 'x', maxRetries: 0, fetch })
const google = (fetch: Fetch) => new GoogleGenAI({ apiKey: 'x', httpOptions: { baseUrl: 'http://gateway', fetch } })

async function collect<T>(list: Promise<AsyncIterable<T>>): Promise<T[]> {
  const found: T[] = []
  for await (const each of await list) found.push(each)
  return found
}

test('the official clients list the models, in three formats', async () => {
  const { gateway } = await openWorld({ combos: { chain: ['one/m', 'two/m'] } })
  const fetch: Fetch = (input, init) => gateway.fetch(new Request(input, init))
  const ids = (await collect(openai(fetch).models.list())).map(({ id }) => id)
  assert.ok(ids.includes('chain') && ids.includes('one/m') && ids.includes('claude/c'), String(ids))
  const known = await collect(anthropic(fetch).models.list({ limit: 2 }))
  assert.equal(
    known.map(({ id }) => id),
    ids,
    'page by page',
  )
  const named = await collect(google(fetch).models.list({ config: { pageSize: 2 } }))
  assert.equal(
    named.map(({ name }) => name),
    ids.map((id) => `models/${id}`),
  )
})

test('the official clients retrieve a single model, in three formats', async () => {
  const { gateway } = await openWorld({ combos: { chain: ['one/m', 'two/m'] } })
  const fetch: Fetch = (input, init) => gateway.fetch(new Request(input, init))
  for (const id of ['chain', 'claude/c']) {
    assert.is((await openai(fetch).models.retrieve(id)).id, id)
    assert.is((await anthropic(fetch).models.retrieve(id)).id, id)
    assert.is((await google(fetch).models.get({ model: id })).name, `models/${id}`)
  }
})

/** Each client's call to count the tokens in a prompt. */
const counting: Readonly<Record<string, (fetch: Fetch) => Promise<number | undefined>>> = {
  openai: async (fetch) =>
    (await openai(fetch).responses.inputTokens.count({ model: MODEL, input: QUESTION })).input_tokens,
  '@anthropic-ai/sdk': async (fetch) => {
    const messages = [{ role: 'user' as const, content: QUESTION }]
    return (await anthropic(fetch).messages.countTokens({ model: MODEL, messages })).input_tokens
  },
  '@google/genai': async (fetch) =>
    (await google(fetch).models.countTokens({ model: MODEL, contents: QUESTION })).totalTokens,
}

/** Each provider's response with a count of 42. Chat Completions has no such endpoint. */
const counters: Readonly<Record<WireFormat, { path: RegExp; count: object } | undefined>> = {
  'openai-chat': undefined,
  'openai-responses': {
    path: /\/responses\/input_tokens$/,
    count: { object: 'response.input_tokens', input_tokens: 42 },
  },
  'anthropic-messages': { path: /\/messages\/count_tokens$/, count: { input_tokens: 42 } },
  gemini: { path: /:countTokens$/, count: { totalTokens: 42 } },
}

for (const [name, count] of Object.entries(counting)) {
  for (const format of wireFormats) {
    const counter = counters[format]
    test(`${name} counts the tokens of a request (${format} provider)`, async () => {
      const upstream = fakeUpstream(({ url }: Call) =>
        counter?.path.test(url.pathname) ? json(counter.count) : json({ error: { message: 'unknown' } }, 404),
      )
      const { fetch } = await openBefore(format, upstream)
      const tokens = await count(fetch)
      if (counter) assert.is(tokens, 42)
      else assert.ok(tokens && tokens > 5 && tokens < 60 && upstream.calls.length === 0, String(tokens))
    })
  }
}
