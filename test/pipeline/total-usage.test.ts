import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { chatChunk } from './support/responses.ts'
import { fakeUpstream, json, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('total usage of all requests')

const ROUNDS = 400

const usageChunk = (input: number, output: number) =>
  `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: input, completion_tokens: output } })}\n\n`

const event = (data: { type: string; [name: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

const startOf = (input: number) =>
  event({
    type: 'message_start',
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      content: [],
      usage: { input_tokens: input, output_tokens: 0 },
    },
  })

test("total usage matches the providers' reports exactly across failures, fallbacks, empty responses, and interrupted streams", async () => {
  const random = createRandom()
  const reported = { input: 0, output: 0 }

  /** Reports usage, and ends in one of the ways in which providers end. */
  function respond(provider: string, isStream: boolean): Response {
    const [input, output] = [1 + random.below(1_000), 1 + random.below(100)]
    const report = (isAll = true) => {
      reported.input += input
      if (isAll) reported.output += output
    }
    const usage = { prompt_tokens: input, completion_tokens: output }
    const way = random.below(7)
    if (way === 0) return json({ error: { message: 'Overloaded.' } }, 503)
    if (provider === 'claude') {
      if (way === 1) {
        report(false)
        return sse([startOf(input), event({ type: 'error', error: { type: 'overloaded_error', message: 'No.' } })])
      }
      report()
      return sse([
        startOf(input),
        event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
        event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } }),
        event({ type: 'content_block_stop', index: 0 }),
        event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: output } }),
        event({ type: 'message_stop' }),
      ])
    }
    report()
    if (!isStream) {
      if (way === 1) return json({ error: { message: 'Broken.', code: 500 }, usage }, 500)
      const content = way === 2 ? '' : 'Hi'
      if (way === 3) return json({ choices: [], usage })
      return json({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }], usage })
    }
    const end = [chatChunk({}, 'stop'), usageChunk(input, output)]
    if (way === 1) return sse([usageChunk(input, output), 'data: {"error":{"message":"Broken.","code":500}}\n\n'])
    if (way === 2) return sse([chatChunk({ role: 'assistant', content: '' }), ...end, 'data: [DONE]\n\n'])
    if (way === 3) return sse([chatChunk({ content: 'Hi' }), ...end], 'error')
    return sse([chatChunk({ content: 'Hi' }), ...end, 'data: [DONE]\n\n'])
  }

  const world = await openWorld({
    fetch: fakeUpstream(({ provider, body }) => respond(provider, Boolean(JSON.parse(body).stream))),
    combos: { all: ['one/m', 'claude/c', 'two/m', 'three/m'], some: ['two/m', 'one/m'] },
    includeStreamUsage: true,
  })
  for (let index = 0; index < ROUNDS; index++) {
    const stream = random.below(2) === 0
    const model = stream ? (['all', 'some'][random.below(2)] ?? '') : 'some'
    const body = { model, stream, max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] }
    const response = random.below(3) === 0 ? await world.messages(body) : await world.chat(body)
    await response.text()
    await world.clock.advance(60_000) // until the failed targets have recovered
  }
  const sum = (counts: ReadonlyArray<number | undefined>) => counts.reduce<number>((all, item) => all + (item ?? 0), 0)
  const { requests } = world.recorded
  const attempts = requests.flatMap((request) => request.attempts)
  const label = `seed ${random.seed}`
  assert.is(requests.length, ROUNDS)
  for (const records of [requests, attempts]) {
    assert.is(sum(records.map(({ usage }) => usage?.inputTokens)), reported.input, label)
    assert.is(sum(records.map(({ usage }) => usage?.outputTokens)), reported.output, label)
  }
  assert.ok(attempts.filter(({ outcome, usage }) => outcome !== 'answered' && usage).length > ROUNDS / 10, label)
})

test('total usage counts a summary once, in the attempt that created it', async () => {
  let calls = 0
  const world = await openWorld({
    fetch: fakeUpstream(({ provider }) => {
      calls++
      if (provider === 'one' && calls > 1) return json({ error: { message: 'Overloaded.' } }, 503)
      const usage = { prompt_tokens: 100 * calls, completion_tokens: 10 * calls }
      const message = { role: 'assistant', content: 'A summary.' }
      return json({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage })
    }),
    combos: { chain: ['one/m', 'two/m'] },
  })
  const response = await world.post('/v1/responses', {
    model: 'chain',
    context_management: [{ type: 'compaction', compact_threshold: 1 }],
    input: [{ role: 'user', content: 'A long story. '.repeat(100) }],
  })
  assert.is(response.status, 200)
  await response.text()
  const [request] = world.recorded.requests
  assert.equal(
    request?.attempts.map(({ provider, usage }) => [provider, usage?.inputTokens]),
    [
      ['one', 100],
      ['two', 300],
    ],
  )
  assert.is(request?.usage?.inputTokens, 400)
  assert.is(world.recorded.usages[0]?.inputTokens, 400)
})
