import { pii } from '../../src/features/guards/guards.ts'
import type { Feature } from '../../src/index.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { clientNames, openWorld } from './world.ts'

const test = suite('guards in front of a cache')

/** Creates a cache that stores responses by parsed request, and shares them between callers. */
function createSharedCache(): { feature: Feature; countHits: () => number } {
  const replies = new Map<string, { headers: Readonly<Record<string, string>>; body: string | Uint8Array }>()
  let hits = 0
  const feature: Feature = {
    name: 'cache',
    async aroundCall(call, next) {
      const id = JSON.stringify([call.format, call.model, call.stream, call.body])
      const cached = replies.get(id)
      if (cached) {
        hits += 1
        call.servedBy = 'cache'
        return { status: 200, ...cached }
      }
      const reply = await next()
      const { body } = reply
      if (typeof body === 'string' || body instanceof Uint8Array) replies.set(id, { headers: reply.headers, body })
      return reply
    },
  }
  return { feature, countHits: () => hits }
}

for (const client of clientNames)
  test(`a cached response is restored with the requesting user's address (${client})`, async () => {
    const cache = createSharedCache()
    const upstream = fakeUpstream(({ body }) => {
      const [placeholder = ''] = /EMAIL-[\w-]+/.exec(String(body)) ?? []
      return json(chatResponse(`Write to ${placeholder}`))
    })
    const { say } = await openWorld([pii({ name: 'm', types: ['email'], action: 'mask' })], {
      options: { extend: [cache.feature], fetch: upstream },
    })
    const ann = await (await say(client, 'Mail ann@a.test')).text()
    const bob = await (await say(client, 'Mail bob@b.test')).text()
    assert.is(cache.countHits(), 1)
    assert.is(upstream.calls.length, 1)
    assert.match(ann, 'Write to ann@a.test')
    assert.match(bob, 'Write to bob@b.test')
    assert.not.match(bob, 'ann@')
  })
