import type { CachedAttempt } from '../../src/features/prompt-caching/cached-call.ts'
import { PromptCacher } from '../../src/features/prompt-caching/prompt-cacher.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import type { Codec } from '../../src/request/codec/codec.ts'
import { fullResponses } from '../formats/cases/responses.ts'
import { openGateway } from '../formats/cases/support.ts'
import { openHedging, respond } from '../pipeline/support/hedging.ts'
import { json } from '../pipeline/support/upstream.ts'
import { fakeClock } from '../support/clock.ts'
import { busyMs, roundsUntil } from '../support/cpu-time.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { clientWriters, createConversation } from './support/conversations.ts'

const test = suite('prompt caching: cost')

test('a hedged attempt gets no breakpoints', async () => {
  const { world, send, untilBoth } = await openHedging({ two: () => respond(false) }, { stream: false })
  await world.api.settings.update({ promptCaching: 'auto' })
  const pending = send()
  await untilBoth()
  await pending
  const hedge = world.recorded.requests.at(-1)?.attempts.find(({ provider }) => provider === 'two')
  assert.is(hedge?.promptCache?.stoodDown, 'hedge')
})

/** Returns the mean CPU time of `count` requests, in ms. */
async function measureRequest(promptCaching: 'off' | 'auto', count: number): Promise<number> {
  const { world } = await openGateway(() => json(fullResponses['anthropic-messages']), {
    catalog: defaultCatalog,
    connections: ['anthropic'],
  })
  await world.api.settings.update({ promptCaching })
  const steps = createConversation(createRandom(1), 100)
  const { messages, ...body } = clientWriters['anthropic-messages'](
    steps.slice(
      0,
      steps.findLastIndex(({ type }) => type === 'assistant'),
    ),
  )
  const first = { role: 'user', content: 'x'.repeat(150_000) }
  const text = JSON.stringify({
    ...body,
    model: 'anthropic/claude-sonnet-4-5',
    messages: [first, ...(messages as object[])],
  })
  assert.ok(text.length > 200_000)
  await world.post('/v1/messages', text)
  const before = busyMs()
  for (let sent = 0; sent < count; sent++) await (await world.post('/v1/messages', text)).text()
  return (busyMs() - before) / count
}

test('adding breakpoints to a 200 kB passthrough request takes at most 1 ms', async () => {
  const rounds = await roundsUntil(
    1,
    async () => (await measureRequest('auto', 40)) - (await measureRequest('off', 40)),
  )
  assert.ok(Math.min(...rounds) <= 1, `it takes ${rounds.map((ms) => ms.toFixed(2))} ms`)
})

test('adding breakpoints to a 75 kB translated request takes at most 50 µs', async () => {
  const steps = createConversation(createRandom(1), 100)
  const end = steps.findLastIndex(({ type }) => type === 'assistant')
  const body = clientWriters['anthropic-messages'](steps.slice(0, end))
  const text = JSON.stringify(clientWriters['openai-chat'](steps.slice(0, end)))
  assert.ok(text.length > 75_000)
  const cacher = new PromptCacher({ store: memory, clock: fakeClock(), logger: undefined })
  const target = {
    connection: { id: 'c' },
    provider: 'anthropic',
    model: 'claude-sonnet-5-5',
    format: 'anthropic-messages',
  }
  let marked: JsonObject = {}
  /** Adds breakpoints to one attempt. The caller passes the translated body, so the measurement excludes the translation. */
  const mark = (index: number) => {
    const call = { text, body: { messages: [{ role: 'user', content: `${index}` }] }, model: 'm' }
    const request = { call, owner: 'o', exchange: { header: () => undefined }, format: { name: 'openai-chat' } }
    const attempt = { request, route: { target }, log: { isHedge: false, extendRecord: () => {} }, mode: 'auto' }
    return cacher.encode(attempt as unknown as CachedAttempt, async ({ editBody }) => {
      marked = editBody?.(body) ?? {}
      return { isPassThrough: false, request: {} } as Codec
    })
  }
  const rounds = await roundsUntil(0.05, async () => {
    const before = busyMs()
    for (let sent = 0; sent < 200; sent++) await mark(sent)
    return (busyMs() - before) / 200
  })
  assert.is(JSON.stringify(marked).match(/"cache_control"/g)?.length, 4)
  assert.ok(Math.min(...rounds) <= 0.05, `it takes ${rounds.map((ms) => ms.toFixed(3))} ms`)
})

/** The keyring is only read for targets that support cache keys. */
const memory = { keyring: () => Promise.reject(new Error('not read')) }
