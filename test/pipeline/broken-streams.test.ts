import { assert, suite } from '../support/suite.ts'
import { chatEvents, messageEvents } from './support/responses.ts'
import { fakeUpstream, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('target health after a stream breaks off')

const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`
const chatError = (error: object) => data({ error })
const messagesError = (error: object) => `event: error\n${data({ type: 'error', error })}`

const rateLimit = { message: 'Rate limit reached', type: 'rate_limit_error', code: 'rate_limit_exceeded' }
const badKey = { message: 'Incorrect API key provided', type: 'authentication_error', code: 'invalid_api_key' }
const noMoney = { message: 'You have no credit', type: 'insufficient_quota', code: 'insufficient_quota' }
const overloaded = { message: 'Overloaded', type: 'overloaded_error', code: 503 }
const tooLong = { message: 'The prompt is too long', type: 'invalid_request_error', code: 'context_length_exceeded' }
const rejected = { message: 'The image is broken', type: 'invalid_request_error', code: 'image_parse_error' }

/** Mid-stream errors, with the resulting failure of the target: its level, class, and state. */
const errors: readonly (readonly [error: object, health: readonly string[]])[] = [
  [rateLimit, ['connection rate-limit cooling']],
  [badKey, ['connection credentials cooling']],
  [noMoney, ['connection credentials cooling']],
  [overloaded, ['model server counting']],
  [{ message: 'Out of memory', code: 500 }, ['model server counting']],
  [tooLong, []],
  [rejected, []],
]

/** Streams a response that breaks off, and returns the failure recorded for its target. */
async function healthAfter(world: Awaited<ReturnType<typeof openWorld>>, path: 'chat' | 'messages', model: string) {
  await (await world[path]({ model, stream: true })).text()
  const { health } = await world.api.health.list()
  return health.map(({ level, reason, state }) => `${level} ${reason} ${state}`)
}

for (const [error, health] of errors) {
  const label = JSON.stringify(error)

  test(`an error in a passed-through stream is recorded with its own class: ${label}`, async () => {
    const fetch = fakeUpstream(() => sse([...chatEvents().slice(0, 3), chatError(error)].join('')))
    const world = await openWorld({ fetch, connections: ['one'] })
    assert.equal(await healthAfter(world, 'chat', 'one/m'), health)
  })

  test(`an error in a translated stream is recorded with the same class: ${label}`, async () => {
    const fetch = fakeUpstream(() => sse([...chatEvents().slice(0, 3), chatError(error)].join('')))
    const world = await openWorld({ fetch, connections: ['one'] })
    assert.equal(await healthAfter(world, 'messages', 'one/m'), health)
  })
}

test('an Anthropic rate limit counts as a rate limit, passed through or translated', async () => {
  for (const path of ['messages', 'chat'] as const) {
    const events = [...messageEvents().slice(0, 5), messagesError({ type: 'rate_limit_error', message: 'Slow down' })]
    const world = await openWorld({ fetch: fakeUpstream(() => sse(events.join(''))), connections: ['claude'] })
    assert.equal(await healthAfter(world, path, 'claude/c'), ['connection rate-limit cooling'], path)
  }
})

test('a stream that ends early without a provider error counts as a network failure', async () => {
  for (const path of ['chat', 'messages'] as const) {
    const world = await openWorld({
      fetch: fakeUpstream(() => sse(chatEvents().slice(0, 3).join(''))),
      connections: ['one'],
    })
    assert.equal(await healthAfter(world, path, 'one/m'), ['model network counting'], path)
  }
})
