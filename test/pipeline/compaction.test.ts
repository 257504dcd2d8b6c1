import OpenAI from 'openai'
import type { JsonObject } from '../../src/lib/json.ts'
import { assert, suite } from '../support/suite.ts'
import {
  ASKS_FOR_SUMMARY,
  conversation,
  createManaged,
  getCompaction,
  getOutput,
  getTypes,
  models,
  obliging,
  open,
  respondWith,
  SUMMARY,
  tools,
  triggered,
} from './support/compaction.ts'

const test = suite('compaction in a Responses request')

const PATH = '/v1/responses'

const findTypes = (text: string) => [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type)

for (const [name, model] of Object.entries(models))
  for (const stream of [false, true]) {
    const mode = stream ? 'streamed' : 'not streamed'

    test(`with a compaction_trigger, ${name} returns only a compaction (${mode})`, async () => {
      const { world, upstream, sent } = await open()
      const output = await getOutput(await world.post(PATH, { model, stream, ...triggered }))
      assert.equal(getTypes(output), ['compaction'])
      assert.match(String(getCompaction(output).encrypted_content), SUMMARY)
      assert.is(upstream.calls.length, 1)
      assert.match(JSON.stringify(sent(0)), ASKS_FOR_SUMMARY)
      assert.not.match(JSON.stringify(sent(0)), 'compaction_trigger')
      assert.ok(Number(world.recorded.usages[0]?.inputTokens) > 0)
    })

    test(`with context_management, the conversation is compacted before ${name} responds (${mode})`, async () => {
      const { world, upstream, sent } = await open()
      const output = await getOutput(await world.post(PATH, { model, stream, ...createManaged(40) }))
      assert.equal(getTypes(output), ['compaction', 'message'])
      assert.match(String(output[0]?.encrypted_content), SUMMARY)
      assert.match(JSON.stringify(output[1]), '3 more')
      assert.is(upstream.calls.length, 2)
      const [first, second] = [JSON.stringify(sent(0)), JSON.stringify(sent(1))]
      assert.match(first, ASKS_FOR_SUMMARY)
      assert.not.match(second, ASKS_FOR_SUMMARY)
      for (const kept of ['Count the ducks.', 'And the lake?', SUMMARY]) assert.match(second, kept)
      assert.not.match(second, /I look at the pond|pond_0815|signalbox-1/)
      assert.match(second, /look/) // the tools are still available

      const [usage, ...others] = world.recorded.usages
      assert.equal(others, [])
      const { inputTokens } = usage ?? {}
      assert.is(inputTokens, 2 * (name === 'bedrock' ? (stream ? 8.5 : 7) : 7), 'for both calls')
      assert.equal(
        world.recorded.attempts.map(({ outcome }) => outcome),
        ['answered'],
      )
    })

    test(`with context_management, a short conversation with ${name} stays unchanged (${mode})`, async () => {
      const { world, upstream, sent } = await open()
      const output = await getOutput(await world.post(PATH, { model, stream, ...createManaged(100_000) }))
      assert.equal(getTypes(output), ['message'])
      assert.is(upstream.calls.length, 1)
      assert.match(JSON.stringify(sent(0)), 'I look at the pond.')
    })
  }

test('a conversation continues from a compaction, without the earlier items that the client still sends', async () => {
  const { world, sent } = await open()
  const output = await getOutput(await world.post(PATH, { model: models.chat, ...createManaged(40) }))
  const input = [...conversation, ...output, { role: 'user', content: 'Go on.' }]
  await getOutput(await world.post(PATH, { ...createManaged(100_000), model: models.chat, input }))
  const request = JSON.stringify(sent(-1))
  for (const kept of ['Count the ducks.', 'And the lake?', SUMMARY, '3 more', 'Go on.']) assert.match(request, kept)
  assert.not.match(request, /I look at the pond|pond_0815|signalbox-1/)
})

test('a conversation that is compacted again contains only the last summary', async () => {
  const { world, sent } = await open((call, index) =>
    respondWith(call, call.body.includes(ASKS_FOR_SUMMARY) ? `Summary ${index}.` : '3 more'),
  )
  const send = async (input: readonly JsonObject[]) =>
    getOutput(await world.post(PATH, { ...createManaged(40), model: models.chat, input }))
  const first = await send(conversation)
  const second = await send([...conversation, ...first, { role: 'user', content: 'And the river, at last?' }])
  assert.match(String(second[0]?.encrypted_content), 'Summary 3.')
  assert.match(JSON.stringify(sent(2)), 'Summary 1.')
  assert.not.match(JSON.stringify(sent(3)), 'Summary 1.')
  await getOutput(await world.post(PATH, { model: models.chat, input: [...conversation, ...first, ...second] }))
  assert.not.match(JSON.stringify(sent(4)), 'Summary 1.')
  assert.match(JSON.stringify(sent(4)), 'Summary 3.')
})

test('tool calls and their results stay together after a compaction', async () => {
  const { world, sent } = await open()
  const compaction = getCompaction(await getOutput(await world.post(PATH, { model: models.chat, ...triggered })))
  const call = { type: 'function_call', call_id: 'call_lake_0815', name: 'look', arguments: '{"at":"lake"}' }
  const result = { type: 'function_call_output', call_id: 'call_lake_0815', output: '3 ducks' }
  await getOutput(
    await world.post(PATH, { model: models.messages, tools, input: [...conversation, compaction, call, result] }),
  )
  const { messages } = sent(-1) as { messages: { role: string }[] }
  assert.equal(
    messages.map(({ role }) => role).filter((role, index, roles) => role !== roles[index - 1]),
    ['user', 'assistant', 'user'],
  )
  assert.not.match(JSON.stringify(messages), 'pond')
})

test('a stream contains compaction events, with one compacting event per summary chunk', async () => {
  const { world } = await open()
  const response = await world.post(PATH, { model: models.chat, stream: true, ...triggered })
  const text = await response.text()
  const pieces = SUMMARY.split(/(?<= )/).length
  assert.equal(findTypes(text), [
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    ...Array(pieces).fill('response.compaction.compacting'),
    'response.output_item.done',
    'response.completed',
  ])
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json))
  const ids = events.flatMap(({ item_id, item }) => item_id ?? item?.id ?? [])
  assert.is(new Set(ids).size, 1)
  assert.match(ids[0], /^cmp_/)
  assert.equal(
    events.map(({ sequence_number }) => sequence_number),
    events.map((_, index) => index),
  )
})

test('the official client streams a compaction and a response', async () => {
  const { world } = await open()
  const client = new OpenAI({
    apiKey: 'k',
    maxRetries: 0,
    baseURL: 'http://gateway/v1',
    fetch: (input, init) => world.gateway.fetch(new Request(input, init)),
  })
  const { output, output_text } = await client.responses
    .stream({
      model: models.messages,
      input: conversation as unknown as OpenAI.Responses.ResponseInputItem[],
      context_management: [{ type: 'compaction', compact_threshold: 25 }],
    })
    .finalResponse()
  assert.is(output_text, '3 more')
  assert.equal(
    output.map(({ type }) => type),
    ['compaction', 'message'],
  )
})

test("compaction keeps the user's last message whatever its size, and earlier ones up to half the threshold", async () => {
  const { world, sent } = await open()
  const words = (name: string) => ({ role: 'user', content: `${name} ${'quack '.repeat(1_500)}` })
  const names = ['first', 'second', 'third', 'fourth', 'fifth']
  const input = names.map(words)
  const listKept = async (threshold: number) => {
    await getOutput(await world.post(PATH, { ...createManaged(threshold), model: models.chat, input }))
    const request = JSON.stringify(sent(-1))
    return names.filter((name) => request.includes(`${name} quack`))
  }
  assert.equal(await listKept(10), ['fifth'])
  assert.equal(await listKept(10_000), ['fourth', 'fifth'])
})

test('the threshold applies only to the part of the conversation since the last compaction', async () => {
  const { world, upstream } = await open()
  const { encrypted_content } = getCompaction(
    await getOutput(await world.post(PATH, { model: models.chat, ...triggered })),
  )
  const modelOutput = { role: 'assistant', content: 'quack '.repeat(20_000) }
  const input = [modelOutput, { type: 'compaction', encrypted_content }, { role: 'user', content: 'Go on.' }]
  const output = await getOutput(await world.post(PATH, { ...createManaged(20_000), model: models.chat, input }))
  assert.equal(getTypes(output), ['message'])
  assert.is(upstream.calls.length, 2)
})

test('without a threshold, a conversation is compacted at 80% of a known context window', async () => {
  const { world, upstream } = await open()
  const send = async (model: string, tokens: number) => {
    const input = [{ role: 'user', content: 'quack '.repeat((tokens * 4) / 6) }]
    return getTypes(await getOutput(await world.post(PATH, { ...createManaged(), model, input })))
  }
  assert.equal(await send('chat/n', 700_000), ['message'])
  assert.equal(await send('chat/n', 900_000), ['compaction', 'message'])
  assert.equal(await send('chat/m', 900_000), ['message'])
  assert.is(upstream.calls.length, 4)
})

for (const [name, body] of Object.entries({ compaction_trigger: triggered, context_management: createManaged(40) }))
  test(`a provider with built-in compaction gets the request unchanged: ${name}`, async () => {
    const { world, upstream } = await open((call) => respondWith(call, '3 more'))
    const text = JSON.stringify({ model: 'openai/m', ...body })
    await getOutput(await world.post(PATH, text))
    assert.is(upstream.calls[0]?.body, text.replace('openai/m', 'm'))
  })

test('a request below the threshold passes through to a Responses provider without compaction', async () => {
  const { world, upstream } = await open()
  const text = JSON.stringify({ model: models.responses, ...createManaged(100_000) })
  await getOutput(await world.post(PATH, text))
  assert.is(upstream.calls[0]?.body, text.replace(models.responses, 'm'))
})

test('an unknown kind of context_management is dropped with a warning', async () => {
  const { world } = await open()
  const body = { input: 'Hi', context_management: [{ type: 'clearing' }] }
  const response = await world.post(PATH, { model: models.chat, ...body })
  assert.is(response.headers.get('x-signalbox-warning'), 'dropped:context_management')
  assert.equal(getTypes(await getOutput(response)), ['message'])
})

test('a compaction_trigger that precedes other items is rejected with its path', async () => {
  const { world, upstream } = await open()
  const input = [{ type: 'compaction_trigger' }, ...conversation]
  const response = await world.post(PATH, { model: models.chat, input })
  assert.is(response.status, 400)
  const { error } = await response.json()
  assert.is(error.param, 'input[0].type')
  assert.match(error.message, 'last item')
  assert.is(upstream.calls.length, 0)
})

const foreign = { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAAA_of_OpenAI' }

test('an OpenAI compaction is rejected for other formats, with an explanation', async () => {
  const { world, upstream } = await open()
  const input = [foreign, { role: 'user', content: 'Go on.' }]
  for (const model of [models.chat, models.messages, models.gemini, models.bedrock]) {
    const response = await world.post(PATH, { model, input })
    assert.is(response.status, 400)
    const { error } = await response.json()
    assert.is(error.param, 'input[0]')
    assert.match(error.message, /encrypted by another provider/)
  }
  assert.is(upstream.calls.length, 0)
})

test("a combo skips targets that can't read an OpenAI compaction", async () => {
  const { world, upstream, sent } = await open(obliging, { combos: { chain: [models.chat, 'openai/m'] } })
  const input = [foreign, { role: 'user', content: 'Go on.' }]
  await getOutput(await world.post(PATH, { model: 'chain', input }))
  assert.equal(upstream.providers, ['openai'])
  assert.equal(sent(0).input, input)
})

test('an OpenAI compaction is passed back to a Responses provider even if the request is translated', async () => {
  const { world, sent } = await open()
  const input = [foreign, { role: 'user', content: 'What does signalbox-1: mean?' }]
  await getOutput(await world.post(PATH, { model: 'openai/m', input }))
  assert.equal((sent(0).input as JsonObject[])[0], foreign)
})
