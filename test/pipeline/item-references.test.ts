import type { JsonObject } from '../../src/lib/json.ts'
import { wireFormats } from '../../src/types/unions.ts'
import { openGateway, providerOf } from '../formats/cases/support.ts'
import { assert, suite } from '../support/suite.ts'
import { outputBy } from './support/sdk/gateway.ts'
import { json, sse } from './support/upstream.ts'
import type { World } from './support/world.ts'

const test = suite('references to items of earlier responses')

const tools = [{ type: 'function', name: 'get_weather', parameters: { type: 'object', properties: {} } }]
const request = { role: 'user', content: 'How warm is it?' }

/** Opens a gateway with providers that call their tools, and answer once they have the results. */
async function open() {
  const { upstream, world } = await openGateway(({ provider, body, url }) => {
    const isStream = url.href.includes(':streamGenerateContent') || JSON.parse(body).stream === true
    const format = wireFormats.find((name) => providerOf[name] === provider) ?? 'openai-chat'
    const output = outputBy(format)
    const { whole, events } = HAS_RESULTS.test(body) ? output.response : output.calls
    return isStream ? sse(events) : json(whole)
  })
  const respond = async (body: JsonObject, headers: Record<string, string> = {}) =>
    world.post('/v1/responses', { tools, ...body }, { headers })
  return { upstream, world, respond }
}

const HAS_RESULTS = /"(tool_call_id|function_call_output|tool_result|functionResponse)"/

/** Resolves to a response's output, streamed or not. */
async function getOutput(response: Response): Promise<JsonObject[]> {
  assert.is(response.status, 200)
  const text = await response.text()
  if (!text.startsWith('event:')) return JSON.parse(text).output
  const [, end = ''] = /^event: response\.completed\ndata: (.*)$/m.exec(text) ?? []
  return JSON.parse(end).response.output
}

const referencesTo = (items: readonly JsonObject[]) => items.map(({ id }) => ({ type: 'item_reference', id }))

const getResults = (items: readonly JsonObject[]) =>
  items.flatMap(({ type, call_id }) =>
    type === 'function_call' ? [{ type: 'function_call_output', call_id, output: '21' }] : [],
  )

const sentTo = (world: { upstream: { calls: { body: string }[] } }, index: number) =>
  JSON.parse(world.upstream.calls.at(index)?.body ?? '{}')

for (const format of wireFormats.filter((name) => name !== 'openai-responses'))
  for (const stream of [false, true])
    test(`the provider gets the referenced items instead of references (${format}${stream ? ', streamed' : ''})`, async () => {
      const opened = await open()
      const model = `${providerOf[format]}/m`
      const items = await getOutput(await opened.respond({ model, stream, input: [request] }))
      assert.ok(items.some(({ type }) => type === 'reasoning'))
      const results = getResults(items)
      assert.is(results.length, 2)
      const responses = await getOutput(
        await opened.respond({ model, stream, input: [request, ...referencesTo(items), ...results] }),
      )
      await getOutput(await opened.respond({ model, stream, store: false, input: [request, ...items, ...results] }))
      assert.equal(sentTo(opened, 1), sentTo(opened, 2))
      assert.match(JSON.stringify(sentTo(opened, 1)), 'Paris')

      const further = [{ role: 'user', content: 'Thanks' }]
      const all = [request, ...referencesTo(items), ...results, ...referencesTo(responses), ...further]
      await getOutput(await opened.respond({ model, stream, input: all }))
      assert.match(JSON.stringify(sentTo(opened, -1)), 'It is 21')
    })

async function readError(response: Response) {
  assert.is(response.status, 400)
  const { error } = await response.json()
  return error
}

test('a reference to an unknown item fails with a 400 that names the item and suggests store: false', async () => {
  const { respond } = await open()
  const { message, param } = await readError(
    await respond({ model: 'chat/m', input: [request, { type: 'item_reference', id: 'msg_gone' }] }),
  )
  assert.is(param, 'input[1].type')
  assert.match(message, 'msg_gone')
  assert.match(message, '"store": false')
})

test("items of a request with store: false aren't stored", async () => {
  const { respond } = await open()
  const items = await getOutput(await respond({ model: 'chat/m', store: false, input: [request] }))
  const [call] = items.filter(({ type }) => type === 'function_call')
  const input = [request, ...referencesTo(call ? [call] : []), ...getResults(items)]
  assert.match((await readError(await respond({ model: 'chat/m', input }))).message, String(call?.id))
})

test("an item can't be referenced with another client's key", async () => {
  const { respond, world } = await open()
  const [mine, other] = await Promise.all(['mine', 'other'].map((name) => getKey(world, name)))
  const items = await getOutput(await respond({ model: 'chat/m', input: [request] }, { 'x-api-key': mine ?? '' }))
  const input = [request, ...referencesTo(items), ...getResults(items)]
  const send = (key: string | undefined) => respond({ model: 'chat/m', input }, key ? { 'x-api-key': key } : {})
  assert.is((await send(other)).status, 400)
  assert.is((await send(undefined)).status, 400)
  assert.is((await send(mine)).status, 200)
})

for (const stream of [false, true])
  test(`a reference to another client's item is rejected${stream ? ', streamed' : ''}`, async () => {
    const opened = await open()
    const { respond, world, upstream } = opened
    const [mine, other] = await Promise.all(['mine', 'other'].map((name) => getKey(world, name)))
    const send = (input: JsonObject[], key: string | undefined) =>
      respond({ model: 'responses/m', input, stream }, key ? { 'x-api-key': key } : {})
    const items = await getOutput(await send([request], mine))
    assert.ok(items.length > 1)
    const callsBefore = upstream.calls.length
    const forms = ({ id }: JsonObject) => [{ type: 'item_reference', id }, { id }, { type: null, id }]
    for (const reference of items.flatMap(forms))
      for (const key of [other, undefined]) {
        const { message, param } = await readError(await send([request, reference], key))
        assert.is(param, 'input')
        assert.match(message, String(reference.id))
      }
    assert.is(upstream.calls.length, callsBefore)
    await getOutput(await send([request, ...referencesTo(items), ...getResults(items)], mine))
    assert.match(JSON.stringify(sentTo(opened, -1)), 'item_reference')
  })

const getKey = async (world: World, name: string) => (await world.api.keys.create({ name })).key

test('a request with references passes through unchanged to the Responses provider that has the items', async () => {
  const opened = await open()
  const input = [request, { type: 'item_reference', id: 'msg_of_the_provider' }]
  await getOutput(await opened.respond({ model: 'responses/m', input }))
  assert.equal(sentTo(opened, 0).input, input)
})

test('a Responses provider gets the full items if another provider created them', async () => {
  const opened = await open()
  const items = await getOutput(await opened.respond({ model: 'messages/m', input: [request] }))
  const input = [request, ...referencesTo(items), ...getResults(items)]
  await getOutput(await opened.respond({ model: 'responses/m', input }))
  assert.not.match(JSON.stringify(sentTo(opened, 1)), 'item_reference')
  assert.match(JSON.stringify(sentTo(opened, 1)), 'Paris')
})

test('the type of a reference is optional', async () => {
  const opened = await open()
  const items = await getOutput(await opened.respond({ model: 'messages/m', input: [request] }))
  const input = [request, ...items.map(({ id }) => ({ id })), ...getResults(items)]
  for (const model of ['responses/m', 'chat/m']) {
    await getOutput(await opened.respond({ model, input }))
    assert.match(JSON.stringify(sentTo(opened, -1)), 'Paris')
  }
})

test("a request's token count includes referenced items", async () => {
  const opened = await open()
  const items = await getOutput(await opened.respond({ model: 'messages/m', input: [request] }))
  const input = [request, ...referencesTo(items), ...getResults(items)]
  await opened.world.post('/v1/responses/input_tokens', { model: 'messages/m', input, tools })
  assert.match(opened.upstream.calls.at(-1)?.url.pathname ?? '', /count_tokens$/)
  assert.match(JSON.stringify(sentTo(opened, -1)), 'Paris')
})
