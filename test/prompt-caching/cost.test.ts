import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { whole } from '../formats/cases/answers.ts'
import { openDoor } from '../formats/cases/support.ts'
import { answer, hedging } from '../pipeline/support/hedging.ts'
import { json } from '../pipeline/support/upstream.ts'
import { busyMs, roundsUntil } from '../support/cpu-time.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { clientWriters, createConversation } from './support/conversations.ts'

const test = suite('prompt caching: what it costs')

test('check 26: a hedge is not marked', async () => {
  const { world, ask, untilBoth } = await hedging({ two: () => answer(false) }, { stream: false })
  await world.api.settings.update({ promptCaching: 'auto' })
  const asked = ask()
  await untilBoth()
  await asked
  const hedge = world.told.requests.at(-1)?.attempts.find(({ provider }) => provider === 'two')
  assert.is(hedge?.promptCache?.stoodDown, 'hedge')
})

/** Returns the CPU time of a request, in ms: the mean of `count` requests. */
async function measureRequest(promptCaching: 'off' | 'auto', count: number): Promise<number> {
  const { world } = await openDoor(() => json(whole['anthropic-messages']), {
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
  const filler = { role: 'user', content: 'x'.repeat(150_000) }
  const text = JSON.stringify({
    ...body,
    model: 'anthropic/claude-sonnet-4-5',
    messages: [filler, ...(messages as object[])],
  })
  assert.ok(text.length > 200_000)
  await world.post('/v1/messages', text)
  const before = busyMs()
  for (let sent = 0; sent < count; sent++) await (await world.post('/v1/messages', text)).text()
  return (busyMs() - before) / count
}

test('check 49: marking a request of 200 kB that passes through takes at most 1 ms', async () => {
  const rounds = await roundsUntil(
    1,
    async () => (await measureRequest('auto', 40)) - (await measureRequest('off', 40)),
  )
  assert.ok(Math.min(...rounds) <= 1, `it takes ${rounds.map((ms) => ms.toFixed(2))} ms`)
})
