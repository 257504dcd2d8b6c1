import { encodeUtf8 } from '../../../src/lib/bytes.ts'
import { isCi } from '../../support/ci.ts'
import { busyMs } from '../../support/cpu-time.ts'
import { assert, suite } from '../../support/suite.ts'
import { bytesResponse, delta, getEvents, openGateway, request } from './support.ts'

const test = suite('cases: very large responses')

const MANY = isCi ? 150_000 : 60_000

/** The CPU time limit in ms, which is more than ten times what linear-time work takes. */
const MOST_MS = 5_000

/** Returns the length of a client's stream if the provider sends all of these events in one chunk. */
async function getLength(client: 'anthropic-messages' | 'openai-responses', events: Parameters<typeof getEvents>[1]) {
  const bytes = encodeUtf8(getEvents('openai-chat', events).join(''))
  const { world } = await openGateway(() => bytesResponse([bytes]))
  const startedAt = busyMs()
  const response = await request(world, { client, model: 'chat/m', stream: true })
  let length = 0
  for await (const chunk of response.body ?? []) length += chunk.length
  assert.ok(busyMs() - startedAt < MOST_MS, `${busyMs() - startedAt} ms of CPU time`)
  return length
}

const call = (fields: object) => delta({ tool_calls: [fields] })

test('a call that waits for another call takes linear time', async () => {
  const extra = { choices: [{ index: 0, delta: { tool_calls: [{ index: 1, function: { arguments: ' ' } }] } }] }
  const events = [
    call({ index: 0, id: 'a', function: { name: 'f', arguments: '{' } }),
    call({ index: 1, id: 'b', function: { name: 'g', arguments: '{' } }),
    ...new Array(MANY).fill(extra),
    call({ index: 1, function: { arguments: '}' } }),
    call({ index: 0, function: { arguments: '}' } }),
    delta({}, 'tool_calls'),
  ]
  assert.ok((await getLength('openai-responses', events)) > MANY * 40)
})

test('a call with its name repeated in each chunk takes linear time', async () => {
  const extra = {
    choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { name: 'f', arguments: '{x}' } }] } }],
  }
  const events = [
    call({ index: 0, id: 'a', function: { name: 'f', arguments: '{"a":' } }),
    ...new Array(MANY / 2).fill(extra),
    delta({}, 'tool_calls'),
  ]
  assert.ok((await getLength('anthropic-messages', events)) > MANY * 20)
})

/** Together, these calls are just below 16 MiB, the limit for an event. */
const CALLS = 60_000

test('large numbers of parallel calls take linear time', async () => {
  const events = Array.from({ length: CALLS }, (_, index) =>
    call({ index, id: `call_${index}`, function: { name: 'f', arguments: '{}' } }),
  )
  assert.ok((await getLength('anthropic-messages', [...events, delta({}, 'tool_calls')])) > CALLS * 40)
})
