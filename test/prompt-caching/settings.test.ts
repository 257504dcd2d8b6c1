import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { fullResponses } from '../formats/cases/responses.ts'
import { openGateway } from '../formats/cases/support.ts'
import { json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('prompt caching: settings')

const model = 'anthropic/claude-sonnet-4-5'

const invalid: [value: unknown, problem: RegExp][] = [
  ...['on', 'AUTO', '', true, 1, []].map((value): [unknown, RegExp] => [
    value,
    /promptCaching" must be "off", "auto", or an object such as \{ "mode": "auto", "ttl": "1h" \}/,
  ]),
  [{ mode: 'auto', ttl: '2h' }, /promptCaching\.ttl" must be one of "5m", "1h"/],
  [{ ttl: '1h' }, /promptCaching\.mode" is required/],
  [{ mode: 'auto', lifetime: '1h' }, /Unknown field ".*promptCaching\.lifetime"/],
]
test('an invalid promptCaching value returns a 400 that explains what to set, in any record', async () => {
  const { world } = await openGateway(() => json(fullResponses['anthropic-messages']), {
    ...{ catalog: defaultCatalog, connections: ['anthropic'] },
  })
  const [connection] = (await world.api.connections.list()).connections
  const { id } = await world.api.keys.create({ name: 'one' })
  const group = await world.api.groups.create({ name: 'team' })
  for (const [value, problem] of invalid) {
    const promptCaching = value as 'off'
    for (const change of [
      () => world.api.settings.update({ promptCaching }),
      () => world.api.keys.update(id, { promptCaching }),
      () => world.api.groups.update(group.id, { promptCaching }),
      () => world.api.connections.update(connection?.id ?? '', { promptCaching }),
      () => world.api.combos.create({ name: 'c', models: [{ model, promptCaching }] }),
    ]) {
      const error = await change().catch((error: Error & { status?: number }) => error)
      assert.is('status' in error && error.status, 400, `${change} ${JSON.stringify(value)}`)
      assert.match('message' in error ? error.message : '', problem)
    }
  }
  assert.is((await world.api.settings.get()).promptCaching, undefined)
})
