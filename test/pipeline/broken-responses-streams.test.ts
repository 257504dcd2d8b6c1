import type { JsonObject } from '../../src/lib/json.ts'
import { output } from '../formats/cases/responses.ts'
import { getData, getEvents, send } from '../formats/cases/support.ts'
import { createValidator } from '../formats/openai-responses/support/schema.ts'
import { receivedBy } from '../formats/openai-responses/support/streams.ts'
import { assert, suite } from '../support/suite.ts'
import { type End, sse } from './support/upstream.ts'

const test = suite('Responses streams that break off')

const created = { id: 'resp_up', object: 'response', created_at: 1_790_000_000, model: 'm-2026', status: 'in_progress' }

/** A stream in OpenAI's form: numbered events, the first two of which contain the response. */
const words = Array.from({ length: 2_000 }, (_, index) => `word ${index} `)
const numbered = getEvents(
  'openai-responses',
  output['openai-responses'](...words).map((event, sequence_number): JsonObject => {
    const started = sequence_number === 0 && { response: { ...created, output: [] } }
    return Object.assign({ sequence_number }, Object(event), started)
  }),
)

async function truncate(events: readonly string[], end: End = 'close') {
  const client = 'openai-responses'
  const { response, world } = await send({
    client,
    model: 'responses/m',
    stream: true,
    respond: () => sse(events, end),
  })
  const recorded = await getData(response.clone())
  return { recorded, text: await response.text(), record: world.recorded.requests[0] }
}

for (const [mode, end] of [
  ['ends', 'close'],
  ['is reset', 'error'],
] as const)
  for (const i of [4, 5, 1_500])
    test(`the failure event continues the sequence numbers if the stream ${mode} after ${i} events`, async () => {
      const { recorded, text, record } = await truncate(numbered.slice(0, i), end)
      const [error, failed] = recorded.slice(-2)
      assert.equal(
        recorded.map((event) => event.sequence_number),
        recorded.map((_, index) => index),
      )
      assert.equal([error?.type, failed?.type, record?.status], ['error', 'response.failed', 502])
      const { id, created_at, model, status } = (failed?.response ?? {}) as JsonObject
      assert.equal([id, created_at, model, status], ['resp_up', created.created_at, 'm-2026', 'failed'])
      const received = await receivedBy(text.split(/(?<=\n\n)/)).catch((error: Error) => error)
      assert.ok(
        received instanceof Error && /early|before the response was complete/.test(received.message),
        String(received),
      )
    })

test('the failure event contains a complete response that matches the schema', async () => {
  const problems = createValidator()
  const { recorded } = await truncate(numbered.slice(0, 6))
  assert.equal(problems('ResponseResource', recorded.at(-1)?.response), [])
})

test("a provider's error event is followed by a failure event that continues the sequence numbers", async () => {
  const error = { type: 'error', sequence_number: 4, code: 'server_error', message: 'boom', param: null }
  const { recorded } = await truncate([...numbered.slice(0, 4), ...getEvents('openai-responses', [error])])
  const [failed] = recorded.slice(-1)
  assert.is(failed?.type, 'response.failed')
  assert.equal(JSON.stringify(failed?.response).includes('"id":"resp_up"'), true)
  const numbers = recorded.map((event) => Number(event.sequence_number))
  assert.equal(
    numbers,
    numbers.toSorted((a, b) => a - b),
  )
  assert.is(new Set(numbers).size, numbers.length)
})
