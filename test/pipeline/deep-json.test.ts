import { wireFormats } from '../../src/types/unions.ts'
import type { WireFormat } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import {
  catalog,
  connections,
  isParsed,
  LEAVES,
  LIMIT,
  nestJson,
  questions,
  responses,
  tool,
} from './support/deep-json.ts'
import { chatChunk, chatResponse } from './support/responses.ts'
import { fakeUpstream, json, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('JSON that is nested too deeply')

/** A conversation with a tool call and its result, for clients that send arguments as a string. */
const conversations: Partial<
  Record<WireFormat, (model: string, args: string, result: string) => [path: string, body: object]>
> = {
  'openai-chat': (model, args, result) => [
    '/v1/chat/completions',
    {
      model,
      tools: [{ type: 'function', function: tool }],
      messages: [
        { role: 'user', content: 'Look.' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: args } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: result },
      ],
    },
  ],
  'openai-responses': (model, args, result) => [
    '/v1/responses',
    {
      model,
      tools: [{ type: 'function', ...tool }],
      input: [
        { role: 'user', content: 'Look.' },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: args },
        { type: 'function_call_output', call_id: 'c1', output: result },
      ],
    },
  ],
}

const unable = () => json({ error: { message: 'Not today.', status: 'INVALID_ARGUMENT' } }, 400)

const parsing = ['claude/m', 'google/m', 'bedrock/m', 'vertex/m', 'vertex/claude-m']

for (const [format, conversation] of Object.entries(conversations)) {
  for (const model of parsing) {
    test(`too deeply nested JSON in a tool call's arguments returns a 400 (${format} client, ${model})`, async () => {
      const upstream = fakeUpstream(unable)
      const world = await openWorld({ fetch: upstream, catalog, connections })
      for (const leaf of LEAVES) {
        for (const depth of [LIMIT + 1, 500, 5_000, 50_000]) {
          for (const stream of [false, true]) {
            const [path, body] = conversation(model, nestJson(depth, leaf), 'done')
            const response = await world.post(path, { ...body, stream })
            const { error } = await response.json()
            assert.equal([response.status, upstream.calls.length], [400, 0], `${depth}: ${JSON.stringify(error)}`)
            assert.match(error.message, /arguments.*deeper than 64 levels/)
          }
        }
      }
      assert.equal(world.recorded.errors, [])
      const [path, body] = conversation(model, nestJson(LIMIT), nestJson(LIMIT))
      await (await world.post(path, body)).text()
      assert.is(upstream.calls.length, 1, 'the maximum nesting depth is accepted')
      assert.ok(upstream.calls[0]?.body.includes(nestJson(LIMIT)))
    })
  }

  for (const model of ['google/m', 'vertex/m']) {
    test(`too deeply nested JSON in a tool call's result returns a 400 (${format} client, ${model})`, async () => {
      const upstream = fakeUpstream(unable)
      const world = await openWorld({ fetch: upstream, catalog, connections })
      for (const result of [nestJson(LIMIT + 1), nestJson(5_000), `${'['.repeat(5_000)}${']'.repeat(5_000)}`]) {
        const [path, body] = conversation(model, '{}', result)
        const response = await world.post(path, body)
        const { error } = await response.json()
        assert.equal([response.status, upstream.calls.length], [400, 0])
        assert.match(error.message, /deeper than 64 levels/)
      }
      const [path, body] = conversation(model, '{}', '['.repeat(5_000))
      await world.post(path, body)
      assert.is(upstream.calls.length, 1, "text that isn't valid JSON isn't parsed")
    })
  }

  test(`a target that can't read deeply nested JSON is skipped (${format} client)`, async () => {
    const upstream = fakeUpstream(unable)
    const combos = { chain: ['claude/m', format === 'openai-chat' ? 'chat/m' : 'responses/m'] }
    const world = await openWorld({ fetch: upstream, catalog, connections, combos })
    const [path, body] = conversation('chain', nestJson(5_000), nestJson(5_000))
    await (await world.post(path, body)).text()
    assert.equal(upstream.providers, [format === 'openai-chat' ? 'chat' : 'responses'])
    assert.ok(JSON.parse(upstream.calls[0]?.body ?? ''))
  })
}

for (const [output, reply] of Object.entries(responses)) {
  const [provider = ''] = output.split(',')
  for (const client of wireFormats) {
    test(`too deeply nested JSON in a response returns a 502 unless it is passed through (${output} provider, ${client} client)`, async () => {
      for (const depth of [LIMIT + 1, 5_000]) {
        for (const leaf of LEAVES) {
          const args = nestJson(depth, leaf)
          const upstream = fakeUpstream(({ provider }) =>
            provider === 'other' ? json(chatResponse()) : reply.whole(args),
          )
          const combos = { chain: [`${provider}/m`, 'other/m'] }
          const world = await openWorld({ fetch: upstream, catalog, connections, combos })
          const response = await world.post(...questions[client](`${provider}/m`, false))
          const text = await response.text()
          if (!isParsed(output, client, false)) {
            assert.is(response.status, 200, text.slice(0, 200))
            continue
          }
          assert.is(response.status, 502, text.slice(0, 200))
          assert.match(text, /deeper than 64 levels/)
          const next = await world.post(...questions[client]('chain', false))
          assert.equal([next.status, upstream.providers.at(-1)], [200, 'other'])
          assert.equal(world.recorded.errors, [])
        }
      }
    })

    test(`too deeply nested JSON ends a stream with an error unless it is passed through (${output} provider, ${client} client)`, async () => {
      for (const depth of [LIMIT + 1, 5_000]) {
        for (const leaf of LEAVES) {
          const upstream = fakeUpstream(() => reply.stream(nestJson(depth, leaf)))
          const world = await openWorld({ fetch: upstream, catalog, connections })
          const response = await world.post(...questions[client](`${provider}/m`, true))
          const text = await response.text()
          assert.is(response.status, 200)
          assert.ok(text.includes('I look.'))
          const isRejected = /deeper than 64 levels/.test(text)
          assert.is(isRejected, isParsed(output, client, true), text.slice(-300))
          await world.clock.advance(1)
          assert.is(world.recorded.requests[0]?.status, isRejected ? 502 : 200)
          assert.equal([world.recorded.errors, upstream.open], [[], 0])
        }
      }
    })
  }
}

test('too deeply nested JSON in place of a list in a response returns a 502, streamed or not', async () => {
  const deep = `{"answer":${nestJson(5_000)}}`
  const schema = { type: 'array', items: { type: 'object' } }
  const generationConfig = { responseMimeType: 'application/json', responseJsonSchema: schema }
  for (const stream of [false, true]) {
    const upstream = fakeUpstream(() =>
      stream
        ? sse([chatChunk({ role: 'assistant', content: deep }), chatChunk({}, 'stop'), 'data: [DONE]\n\n'])
        : json(chatResponse(deep)),
    )
    const world = await openWorld({ fetch: upstream, catalog, connections })
    const [path, body] = questions.gemini('chat/m', stream)
    const response = await world.post(path, { ...body, tools: undefined, generationConfig })
    const text = await response.text()
    assert.is(response.status, stream ? 200 : 502, text.slice(0, 300))
    assert.match(text, /deeper than 64 levels/)
    assert.equal(world.recorded.errors, [])
  }
})

test('deeply nested JSON in a provider error is reported as a provider error, without calling onError', async () => {
  const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
  for (const output of [
    `{"error":{"message":"Not \\"today\\"","details":${deep}}}`,
    `{"detail":${deep},"message":"a \\\\ b"}`,
    deep,
  ]) {
    for (const status of [200, 500]) {
      for (const model of ['chat/m', 'google/m', 'bedrock/m']) {
        for (const client of wireFormats) {
          const world = await openWorld({ fetch: fakeUpstream(() => json(output, status)), catalog, connections })
          const response = await world.post(...questions[client](model, false))
          assert.ok((await response.json()).error.message !== '')
          assert.ok(status === 500 ? response.status === 500 : response.status > 500, String(response.status))
          assert.equal(world.recorded.errors, [], `${model} ${client}`)
        }
      }
    }
  }
})
