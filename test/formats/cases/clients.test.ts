import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { wireFormats } from '../../../src/types/unions.ts'
import { json } from '../../pipeline/support/upstream.ts'
import type { World } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'
import { fullResponses, output } from './responses.ts'
import { getFormat, getStream, openGateway, providerOf, request, send } from './support.ts'

const test = suite('cases: clients')

const open = () =>
  openGateway(({ provider, body, url }) => {
    const format = getFormat(provider)
    const isStream = url.pathname.includes('stream') || JSON.parse(body).stream === true
    return isStream ? getStream(format, output[format]('Hello')) : json(fullResponses[format])
  })

const getFetch = (world: World) => (input: string | URL | Request, init?: RequestInit) =>
  world.gateway.fetch(new Request(input, init))

test('HEAD and OPTIONS probes are answered without a provider call', async () => {
  const { world, upstream } = await open()
  for (const path of ['/', '/v1/messages']) {
    for (const method of ['HEAD', 'OPTIONS']) {
      const { status } = await world.gateway.fetch(new Request(`http://gateway${path}`, { method }))
      assert.ok([200, 204].includes(status), `${method} ${path}: ${status}`)
    }
  }
  assert.is(upstream.calls.length, 0)
})

test("fifty concurrent token counts are estimated locally if the provider can't count tokens", async () => {
  const { world, upstream } = await open()
  const body = { model: 'chat/m', messages: [{ role: 'user', content: 'Hi' }] }
  const paths = Array.from({ length: 50 }, (_, index) => `/v1/messages/count_tokens${index % 2 ? '?beta=true' : ''}`)
  const responses = await Promise.all(paths.map((path) => world.post(path, body)))
  assert.ok(responses.every(({ status }) => status === 200))
  for (const response of responses) assert.type((await response.json()).input_tokens, 'number')
  assert.is(upstream.calls.length, 0)
})

test('a reasoning model gets max_completion_tokens, and temperature is dropped', async () => {
  const body = { max_tokens: 100, temperature: 0.5, messages: [{ role: 'user', content: 'Hi' }] }
  const { sent, warned } = await send({
    ...{ client: 'anthropic-messages', model: 'openai/gpt-5-mini', body },
    respond: () => json(fullResponses['openai-chat']),
  })
  assert.equal([sent.max_completion_tokens, 'max_tokens' in sent, 'temperature' in sent], [100, false, false])
  assert.equal(warned, ['dropped:temperature'])
})

test('stream options without a stream are dropped', async () => {
  for (const model of ['messages/m', 'responses/m', 'gemini/m']) {
    const body = { stream_options: { include_usage: true } }
    const { sent, warned } = await send({
      client: 'openai-chat',
      model,
      body,
      respond: () => json(fullResponses[getFormat(model)]),
    })
    assert.equal(['stream_options' in sent, warned], [false, []], model)
  }
})

test('a prompt that Gemini blocks becomes a filtered response', async () => {
  const blocked = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 7 } }
  for (const stream of [false, true]) {
    const respond = () => (stream ? getStream('gemini', [blocked]) : json(blocked))
    const chat = await send({ client: 'openai-chat', model: 'gemini/m', stream, respond })
    assert.match(await chat.response.text(), /"finish_reason":"content_filter"/)
    const messages = await send({ client: 'anthropic-messages', model: 'gemini/m', stream, respond })
    assert.match(await messages.response.text(), /"stop_reason":"refusal"/)
    const responses = await send({ client: 'openai-responses', model: 'gemini/m', stream, respond })
    assert.match(await responses.response.text(), /"incomplete_details":\{"reason":"content_filter"\}|"type":"refusal"/)
  }
})

/** Headers of both generations of Anthropic's client, and the older one's query. */
const generations = {
  newer: { path: '/v1/messages', headers: { authorization: 'Bearer k', 'anthropic-version': '2026-10-21' } },
  older: { path: '/v1/messages?beta=true', headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' } },
}

for (const [generation, { path, headers }] of Object.entries(generations)) {
  test(`the ${generation} Anthropic client works with providers of every format`, async () => {
    const { world, upstream } = await open()
    const body = { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
    for (const format of wireFormats) {
      const model = `${providerOf[format]}/m`
      const response = await world.post(path, { ...body, model }, { headers })
      assert.is((await response.json()).content[0].text, 'a', format)
      const sampling = await world.post(path, { ...body, model, temperature: 0.5 }, { headers })
      if (sampling.status === 400) assert.is((await sampling.json()).type, 'error')
      else if (generation === 'newer' && format !== 'anthropic-messages')
        assert.match(sampling.headers.get('x-signalbox-warning') ?? '', /dropped:temperature/)
      assert.ok([200, 400].includes(sampling.status))
    }
    assert.ok(upstream.calls.every((call) => call.headers.get('authorization') !== 'Bearer k'))
    assert.ok(upstream.calls.every((call) => call.headers.get('x-api-key') !== 'k'))
  })
}

test("each vendor's client gets the model list in its own format", async () => {
  const { world } = await open()
  const fetch = getFetch(world)
  const openai = new OpenAI({ baseURL: 'http://gateway/v1', apiKey: 'k', fetch })
  const anthropic = new Anthropic({ baseURL: 'http://gateway', apiKey: 'k', fetch })
  const google = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: 'http://gateway', fetch } })
  const ids: string[][] = []
  ids.push((await openai.models.list()).data.map(({ id }) => id))
  ids.push((await anthropic.models.list()).data.map(({ id }) => id))
  ids.push((await google.models.list()).page.map(({ name = '' }) => name.replace('models/', '')))
  assert.ok(
    ids.every((list) => list.includes('chat/m') && list.length === ids[0]?.length),
    JSON.stringify(ids),
  )
})

test("Google's client can stream with both versions of the path", async () => {
  const { world } = await open()
  for (const apiVersion of ['v1', 'v1beta']) {
    const client = new GoogleGenAI({
      apiKey: 'k',
      apiVersion,
      httpOptions: { baseUrl: 'http://gateway', fetch: getFetch(world) },
    })
    let text = ''
    for await (const chunk of await client.models.generateContentStream({ model: 'chat/m', contents: 'Hi' }))
      text += chunk.text ?? ''
    assert.is(text, 'Hello', apiVersion)
  }
})

test('a Gemini stream without alt=sse is a single JSON array', async () => {
  const { world } = await open()
  const body = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
  for (const format of wireFormats) {
    const response = await world.post(`/v1beta/models/${providerOf[format]}/m:streamGenerateContent`, body)
    const chunks: { candidates?: { content?: { parts?: { text?: string }[] } }[] }[] = await response.json()
    const text = chunks.map(({ candidates }) => candidates?.[0]?.content?.parts?.[0]?.text ?? '').join('')
    assert.equal([response.headers.get('content-type'), text], ['application/json', 'Hello'], format)
  }
})

test("a Google client's own key isn't sent to the provider", async () => {
  const { world, upstream } = await open()
  await request(world, { client: 'gemini', model: 'chat/m', headers: { 'x-goog-api-key': 'mine' } })
  assert.ok([...(upstream.calls[0]?.headers.values() ?? [])].every((value) => !value.includes('mine')))
})
