import { operations } from '../../src/protocols/formats/model-operations.ts'
import { assert, suite } from '../support/suite.ts'
import { chatResponse } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('operation limits')

test("an operation's own limits replace the defaults, and your app's limits take precedence over both", async () => {
  const prompt = 'x'.repeat(2_000)
  const send = async (path: string, limits = {}) => {
    const world = await openWorld({ fetch: fakeUpstream(() => json(chatResponse())), limits })
    return (await world.post(path, { model: 'one/m', prompt, messages: [] })).status
  }
  Object.assign(operations.complete, { limits: { maxBodyBytes: 1_000 } }) // no built-in operation has its own limits yet
  try {
    assert.is(await send('/v1/completions'), 413)
    assert.is(await send('/v1/chat/completions'), 200)
    assert.is(await send('/v1/completions', { maxBodyBytes: 10_000 }), 200)
  } finally {
    Reflect.deleteProperty(operations.complete, 'limits')
  }
})
