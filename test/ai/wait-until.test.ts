import * as ai from 'ai'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createSignalbox, type InProcessOptions } from '../../src/ai/signalbox.ts'
import { createGateway } from '../../src/gateway.ts'
import { chatEvents } from '../pipeline/support/responses.ts'
import { sse } from '../pipeline/support/upstream.ts'
import { catalog } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('signalbox/ai: waitUntil')

for (const way of ['an account', 'a key'])
  test(`usage of an in-process stream with ${way} is stored before the promise passed to waitUntil settles`, async () => {
    const storage = memoryStorage()
    const gateway = createGateway({
      ...{ storage, catalog, logger: false, connections: { one: { apiKey: 'sk-one' } } },
      fetch: async () => sse(chatEvents('Hello')),
    })
    const { key } = await gateway.api.keys.create({ name: 'a', limits: { requests: { day: 9 } } })
    const works: Array<Promise<unknown>> = []
    const caller: InProcessOptions = way === 'a key' ? { apiKey: key } : { account: 'ann' }
    const models = createSignalbox(gateway, { ...caller, waitUntil: (promise) => void works.push(promise) })
    assert.is(await ai.streamText({ model: models('one/m'), prompt: 'Hi' }).text, 'Hello')
    await Promise.all(works)
    assert.ok(works.length > 0)
    assert.ok((await storage.list('usage/')).length > 0)
  })
