import { memoryStorage } from '../../adapters/storage/memory.ts'
import { formatTypes } from '../../src/admin/http/openapi/model-types.ts'
import { listingPaths } from '../../src/features/listing/listing-routes.ts'
import { createGateway } from '../../src/gateway.ts'
import { formats } from '../../src/protocols/formats/formats.ts'
import { endpoints } from '../../src/protocols/kinds/kinds.ts'
import type { ClientFormat, WireFormat } from '../../src/types.ts'
import { answerAt, getSample } from '../kinds/samples.ts'
import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { closeObjects, createCheck, describedOperations } from './description.ts'

const test = suite('responses to model clients, compared with their descriptions')

/** The headers that make a client use each format. */
const senders: Record<WireFormat, Record<string, string>> = {
  'openai-chat': {},
  'openai-responses': {},
  'anthropic-messages': { 'anthropic-version': '2023-06-01' },
  gemini: { 'x-goog-api-client': 'test' },
}

const document = await createGateway({ storage: memoryStorage(), logger: false }).api.openapi()
const full = closeObjects(document)
const checks = new Map<string, ReturnType<typeof createCheck>>()

function check(description: typeof document, name: string, value: unknown): void {
  const id = `${name}${description === full}`
  const isValid = checks.get(id) ?? createCheck(description, name)
  checks.set(id, isValid)
  assert.ok(isValid(value), `${name} ${JSON.stringify(value)} ${JSON.stringify(isValid.errors)}`)
}

test('model lists and single models match the schema of each format', async () => {
  const { gateway, api } = await openWorld({ connections: ['one'], combos: { fast: ['one/m'] } })
  await api.combos.create({ name: 'searching', models: ['one/m'], kind: 'webSearch' })
  const described = describedOperations(await gateway.api.openapi())
  for (const { path, kinds } of listingPaths) {
    const template = path.replace(':id+', '{id}')
    const operation = described.find((item) => item.path === template && item.method === 'GET')
    for (const [name, headers] of Object.entries(senders) as [WireFormat, Record<string, string>][]) {
      const format = path.startsWith('/v1beta') ? 'gemini' : path.includes('/ai/') ? 'ai-sdk' : name
      const get = (at: string) => gateway.fetch(new Request(`http://gateway${at}`, { headers }))
      const response = await get(path.replace(':id+', 'one/m'))
      const body: unknown = await response.json()
      assert.is(response.status, 200, path)
      check(full, formatTypes[format][kinds ? 'list' : 'model'], body) // exactly the described fields
      const isDescribed = operation?.response(200)
      assert.ok(isDescribed?.(body), `${path} ${JSON.stringify(isDescribed?.errors)}`)
      const missing = await get(`${path.replace(':id+', 'nobody')}${kinds ? '?limit=x&pageSize=x' : ''}`)
      if (missing.status === 200) continue // OpenAI's lists aren't paginated
      check(document, formatTypes[format].error, await missing.json())
    }
  }
})

test('the model list for OpenAI clients has `object`, `data`, and entries with four fields', async () => {
  const { gateway } = await openWorld({ connections: ['one'], combos: { fast: ['one/m'] } })
  const body = await (await gateway.fetch(new Request('http://gateway/v1/models'))).json()
  const [entry] = body.data
  assert.equal([Object.keys(body), body.object], [['object', 'data'], 'list'])
  assert.equal(
    [entry.id, entry.object, entry.owned_by, Number.isInteger(entry.created)],
    ['fast', 'model', 'combo', true],
  )
})

test('model lists support the query parameters described for each format', async () => {
  const { gateway } = await openWorld({ connections: ['one'] })
  for (const [name, headers] of Object.entries(senders) as [WireFormat, Record<string, string>][]) {
    const fetchModels = async (query: string) =>
      gateway.fetch(new Request(`http://gateway/v1/models?${query}`, { headers }))
    const fullText = await (await fetchModels('')).text()
    for (const parameter of Object.keys(formatTypes[name].paging)) {
      const isRead = (await (await fetchModels(`${parameter}=nothing-of-this-name`)).text()) !== fullText
      assert.ok(isRead, `${name} ${parameter}`)
    }
  }
})

test('error bodies for every status match the schema of each format', async () => {
  for (const { name, loadErrors } of formats) {
    const errors = await loadErrors()
    for (const status of [400, 401, 403, 404, 408, 413, 415, 429, 500, 502, 503, 504, 529]) {
      check(
        document,
        formatTypes[name].error,
        errors.createBody({ status, code: 'UPSTREAM_FAILED', message: 'It failed.' }),
      )
    }
  }
})

test("errors from every endpoint match the schema of the endpoint's format", async () => {
  const { gateway } = await openWorld({ fetch: fakeUpstream(() => json(chatResponse())), connections: ['one'] })
  for (const { path, format } of endpoints) {
    const headers = { 'content-type': 'application/json' }
    const at = `http://gateway${path.replace('{model}', 'one/m')}`
    const response = await gateway.fetch(new Request(at, { method: 'POST', headers, body: '[]' }))
    assert.is(response.status, 400, at)
    check(document, formatTypes[format].error, await response.json())
  }
})

/** A request body for each format. */
const bodies: Record<ClientFormat, object> = {
  'openai-chat': { messages: [{ role: 'user', content: 'Hi' }], prompt: 'Hi' },
  'openai-responses': { input: 'Hi' },
  'anthropic-messages': { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 9 },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  'ai-sdk': { prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] },
}

test('every endpoint responds with the described media type and headers, streamed or not', async () => {
  const upstream = fakeUpstream(({ url, body }) => {
    const input = answerAt(url.pathname)
    if (input) return input
    return JSON.parse(body).stream
      ? new Response(chatEvents().join(''), { headers: { 'content-type': 'text/event-stream' } })
      : json(chatResponse())
  })
  const { gateway, api } = await openWorld({ fetch: upstream, connections: ['one'] })
  const { paths } = await api.openapi()
  const seen = new Set<string>()
  for (const endpoint of endpoints) {
    const { path, format, streams, streamTrigger } = endpoint
    for (const stream of streams === 'requested' ? [false, true] : [false]) {
      for (const query of streams === 'always' ? ['', '?alt=sse'] : ['']) {
        const at = `http://gateway${path.replace('{model}', 'one/of-any-kind')}${query}`
        const named = path.includes('{model}') ? {} : { model: 'one/of-any-kind', ...(stream && { stream }) }
        const headers = { 'content-type': 'application/json' }
        const body = JSON.stringify({
          ...(getSample(endpoint)?.body ?? bodies[format]),
          ...named,
          ...(stream && streamTrigger && { [streamTrigger.field]: streamTrigger.value }),
        })
        const response = await gateway.fetch(new Request(at, { method: 'POST', headers, body }))
        const text = await response.text()
        const type = response.headers.get('content-type')?.replace(/;.*/, '') ?? ''
        assert.is(response.status, 200, `${at} ${text}`)
        const described = Object(paths[path]?.post?.responses)[200]
        assert.ok(Object.hasOwn(described.content, type), `${at} ${type}`)
        for (const [name] of response.headers)
          if (name.startsWith('x-signalbox-')) assert.ok(Object.hasOwn(described.headers, name), `${at} ${name}`)
        seen.add(`${path} ${type}`)
      }
    }
  }
  const described = endpoints.flatMap(({ path }) =>
    Object.keys(Object(paths[path]?.post?.responses)[200].content).map((type) => `${path} ${type}`),
  )
  assert.equal([...seen].sort(), described.sort())
})

test('the OpenAPI document describes the stateful fields that /v1/responses rejects', async () => {
  const { api } = await openWorld()
  const { paths } = await api.openapi()
  const content = Object(paths['/v1/responses']?.post?.requestBody).content
  const { properties, required, additionalProperties } = content['application/json'].schema
  assert.equal(Object.keys(properties), ['model', 'stream', 'previous_response_id', 'conversation', 'background'])
  assert.equal([required, additionalProperties], [['model'], true])
})
