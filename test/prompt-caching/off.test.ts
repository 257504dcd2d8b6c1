import { registerHooks } from 'node:module'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { fullResponses } from '../formats/cases/responses.ts'
import { openGateway } from '../formats/cases/support.ts'
import { json } from '../pipeline/support/upstream.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { clientWriters, createConversation, listRequestEnds } from './support/conversations.ts'

const test = suite('prompt caching: turned off')

const model = 'anthropic/claude-sonnet-4-5'
const steps = createConversation(createRandom(3), 4)
const body = { ...clientWriters['anthropic-messages'](steps.slice(0, listRequestEnds(steps)[3])), model }

const open = () =>
  openGateway(() => json(fullResponses['anthropic-messages']), { catalog: defaultCatalog, connections: ['anthropic'] })

test("while prompt caching is off everywhere, its code isn't loaded, and no request byte changes", async () => {
  await open() // loads the code that every gateway needs
  const loaded = new Set<string>()
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      if (/features\/prompt-caching\//.test(resolved.url)) loaded.add(resolved.url)
      return resolved
    },
  })
  try {
    const { upstream, world } = await open()
    const off = async () => {
      await world.post('/v1/messages', body)
      assert.is(upstream.calls.at(-1)?.body, JSON.stringify({ ...body, model: 'claude-sonnet-4-5' }))
      assert.equal([...loaded], [])
    }
    await off()
    await world.api.settings.update({ promptCaching: 'off' })
    await off()
    const [connection] = (await world.api.connections.list()).connections
    await world.api.connections.update(connection?.id ?? '', { promptCaching: 'off' })
    await off()
    await world.api.connections.update(connection?.id ?? '', { promptCaching: 'auto' })
    await world.post('/v1/messages', body)
    assert.match(upstream.calls.at(-1)?.body ?? '', /"cache_control"/)
    assert.ok(loaded.size > 0)
  } finally {
    hooks.deregister()
  }
})

for (const path of ['/v1/messages', '/v1/chat/completions'])
  test(`an unknown value in the header returns a 400 that lists the valid ones, at ${path}`, async () => {
    const { upstream, world } = await open()
    const response = await world.post(path, body, { headers: { 'x-signalbox-prompt-caching': 'on' } })
    assert.is(response.status, 400)
    const { error } = await response.json()
    assert.match(error.message, /^x-signalbox-prompt-caching must be "off" \(.*\) or "auto" \(.*\)\.$/)
    assert.is(upstream.calls.length, 0)
  })
