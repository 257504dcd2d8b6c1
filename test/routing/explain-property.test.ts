import fc from 'fast-check'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { ComboModel, Strategy } from '../../src/types.ts'
import { fault } from '../pipeline/support/fault.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { times } from '../support/ci.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('explanations predict requests')

/** Strategies that don't use random numbers. */
const strategies: Strategy[] = ['fallback', 'round-robin', 'sticky', 'least-cost', 'least-busy', 'conditional']

/** The responses that a target may give. */
const responses: Record<string, () => Response> = {
  well: () => json(chatResponse()),
  broken: fault(500, 'broken'),
  refused: fault(401, 'refused'),
  limited: fault(429, 'limited', { 'retry-after': '20' }),
  missing: () => json({ error: { message: 'no such model', code: 'model_not_found' } }, 404),
  page: () => new Response('<html>'),
  fault: fault(400, 'odd'),
}

const model = fc.constantFrom('one/m', 'one/other', 'two/m', 'three/m', 'none/m', 'short')
const entry: fc.Arbitrary<ComboModel> = fc.oneof(
  model,
  fc.record({ model, when: fc.constantFrom({ tools: true }, { stream: false }, { headers: { 'x-team': 'a*' } }) }),
)
const combo = fc.record({
  models: fc.array(entry, { minLength: 1, maxLength: 4 }),
  strategy: fc.constantFrom(...strategies),
  stickyLimit: fc.constantFrom(1, 2),
  connectionStrategy: fc.constantFrom<Strategy>('fallback', 'round-robin', 'sticky'),
})
const step = fc.record({
  at: fc.constantFrom(0, 1),
  passes: fc.constantFrom(0, 2_000, 70_000),
  target: fc.constantFrom('one', 'two', 'three', 'one/m', 'one/other'),
  response: fc.constantFrom(...Object.keys(responses)),
  tools: fc.boolean(),
  session: fc.constantFrom('a', 'b'),
  team: fc.constantFrom('ab', 'x'),
})

test('for random combos, the next request calls the target that explain lists first, on two instances', () =>
  fc.assert(
    fc.asyncProperty(combo, combo, fc.array(step, { minLength: 6, maxLength: 12 }), async (inner, outer, steps) => {
      const now = new Map<string, string>()
      const upstream = fakeUpstream(({ provider, body }) => {
        const state = now.get(`${provider}/${JSON.parse(body).model}`) ?? now.get(provider) ?? 'well'
        return responses[state]?.() ?? json({})
      })
      const clock = fakeClock()
      const storage = memoryStorage({ clock })
      const connections = ['one', { provider: 'one', name: 'spare' }, 'two', 'three']
      const models = ['inner', ...outer.models]
      const first = await openWorld({
        ...{ fetch: upstream, clock, storage, connections, aliases: { short: 'two/m' } },
        combos: { inner, pool: { ...outer, models } },
      })
      const worlds = [first, await openWorld({ fetch: upstream, clock, storage, connections: [] })]
      for (const { at, passes, target, response, tools, session, team } of steps) {
        await clock.advance(passes)
        now.set(target, response)
        const world = worlds[at] ?? first
        const body = { user: session, messages: [{ role: 'user', content: 'Hi' }], ...(tools && { tools: [{}] }) }
        const headers = { 'x-team': team }
        const { targets } = await world.api.explain({ model: 'pool', body, headers })
        const predicted = targets.find(({ use }) => use === 'first' || use === 'last-resort')
        await world.chat({ model: 'pool', ...body }, { headers })
        const called = world.recorded.requests.at(-1)?.attempts[0]
        assert.equal([called?.connectionId, called?.model], [predicted?.connectionId, predicted?.model])
      }
    }),
    { numRuns: times(40) },
  ))
