import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import type { Strategy } from '../../src/types.ts'
import { fullResponses } from '../formats/cases/responses.ts'
import { openGateway } from '../formats/cases/support.ts'
import { json, type Respond } from '../pipeline/support/upstream.ts'
import { isCi } from '../support/ci.ts'
import { fakeClock } from '../support/clock.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { clientWriters, createConversation } from './support/conversations.ts'

const test = suite('prompt caching: session affinity')

const ok = () => json(fullResponses['anthropic-messages'])
const write = clientWriters['anthropic-messages']
const steps = createConversation(createRandom(5), 1).slice(0, 1)

/** Opens a gateway with several accounts at one provider. The API key of a call tells which account it used. */
async function openPool(
  size: number,
  { strategy = 'random', respond = ok }: { strategy?: Strategy; respond?: Respond } = {},
) {
  const clock = fakeClock()
  const connections = Array.from({ length: size }, (_, index) => ({
    provider: 'anthropic',
    apiKey: `key-${index}`,
    name: `${index}`,
  }))
  const { upstream, world } = await openGateway(respond, {
    catalog: defaultCatalog,
    connections,
    clock,
    limits: { maxAttempts: 5 },
  })
  await world.api.settings.update({ promptCaching: 'auto' })
  await world.api.providers.update('anthropic', { strategy })
  const send = async (session: string) => {
    const body = { ...write(steps), model: 'anthropic/claude-sonnet-4-5' }
    const response = await world.post('/v1/messages', body, { headers: { 'x-signalbox-session': session } })
    assert.is(response.status, 200, await response.clone().text())
    return upstream.calls.at(-1)?.headers.get('x-api-key')
  }
  return { send, world, clock, up: upstream }
}

for (const strategy of ['random', 'round-robin'] as const)
  test(`each session always uses the same one of ten accounts (${strategy})`, async () => {
    const { send } = await openPool(10, { strategy })
    const accounts = new Map<string, string | null | undefined>()
    for (let turn = 0; turn < (isCi ? 20 : 5); turn++)
      for (let session = 0; session < (isCi ? 100 : 40); session++) {
        const account = await send(`s${session}`)
        assert.is(account, accounts.get(`s${session}`) ?? account)
        accounts.set(`s${session}`, account)
      }
    assert.ok(new Set(accounts.values()).size > 5, 'the sessions use different accounts')
  })

test('a session moves to another account when its account fails, and stays there', async () => {
  let failing: string | null | undefined
  const respond: Respond = ({ headers }) => (headers.get('x-api-key') === failing ? json({}, 503) : ok())
  const { send, world, clock } = await openPool(3, { respond })
  failing = await send('s')
  const moved = await send('s')
  assert.is.not(moved, failing)
  assert.is(world.recorded.requests.at(-1)?.promptCache?.moved, true)
  failing = undefined
  await clock.advance(60_000)
  for (let turn = 0; turn < 5; turn++) assert.is(await send('s'), moved)
  assert.is(world.recorded.requests.at(-1)?.promptCache?.moved, undefined)
})

test('a session moves to another account when its account returns a 429', async () => {
  let limited: string | null | undefined
  const respond: Respond = ({ headers }) =>
    headers.get('x-api-key') === limited
      ? json({ type: 'error', error: { type: 'rate_limit_error', message: 'Slow down.' } }, 429)
      : ok()
  const { send } = await openPool(3, { respond })
  limited = await send('s')
  const moved = await send('s')
  assert.is.not(moved, limited)
  assert.is(await send('s'), moved)
})

test('a session can move again once its cache has expired', async () => {
  const { send, clock } = await openPool(10)
  const seen = new Set<string | null | undefined>()
  for (let turn = 0; turn < 20; turn++) {
    seen.add(await send('s'))
    await clock.advance(6 * 60_000)
  }
  assert.ok(seen.size > 1)
})

test('a session leaves an account that starts draining', async () => {
  const { send, world } = await openPool(3)
  const first = await send('s')
  const { connections } = await world.api.connections.list()
  const own = connections.find(({ name }) => `key-${name}` === first)
  await world.api.connections.update(own?.id ?? '', { draining: true })
  assert.is.not(await send('s'), first)
})

test("without prompt caching, sessions don't stick to an account", async () => {
  const { send, world } = await openPool(10)
  await send('s')
  await world.api.settings.update({ promptCaching: 'off' })
  const seen = new Set<string | null | undefined>()
  for (let turn = 0; turn < 20; turn++) seen.add(await send('s'))
  assert.ok(seen.size > 1)
})
