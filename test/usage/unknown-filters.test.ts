import { openManagement } from '../management/open-management.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('usage filters with unknown names')

const catalog = { openai: { models: [{ id: 'gpt-5' }] } }

test('an empty result for an unknown name comes with a warning that suggests a similar name', async () => {
  const { gateway, expect } = openManagement({ catalog })
  const { api } = gateway
  const group = await api.groups.create({ name: 'Team' })
  const key = await api.keys.create({ name: 'app' })
  await api.connections.put({ id: 'main', provider: 'openai' })
  await api.combos.create({ name: 'fast', models: ['openai/gpt-5'] })
  const cases: ReadonlyArray<[query: string, warnings: string[] | undefined]> = [
    ['', undefined],
    ['keyId=', undefined],
    [`keyId=${key.id}`, undefined],
    ['keyId=app', [`There is no key with the ID "app". The key with this name has the ID "${key.id}".`]],
    ['keyId=apq', [`There is no key with the ID "apq". Did you mean "${key.id}", which is named "app"?`]],
    [`groupId=${group.id}`, undefined],
    ['groupId=Team', [`There is no group with the ID "Team". The group with this name has the ID "${group.id}".`]],
    ['connectionId=main', undefined],
    ['connectionId=mian', ['There is no connection with the ID "mian". Did you mean "main"?']],
    ['provider=openai', undefined],
    ['provider=opanai', ['There is no provider "opanai". Did you mean "openai"?']],
    ['target=openai/gpt-6', undefined],
    ['target=opanai/gpt-5', ['There is no provider "opanai". Did you mean "openai"?']],
    ['model=fast', undefined],
    ['model=openai/gpt-5', undefined],
    ['model=openai/o9-new', undefined],
    ['model=gpt-5', ['There is no model "gpt-5". Did you mean "openai/gpt-5"?']],
    ['model=zzzzzz', ['There is no model "zzzzzz".']],
    ['user=anyone', undefined],
  ]
  for (const path of ['/api/usage', '/api/usage/requests'])
    for (const [query, warnings] of cases) {
      const response = await expect(200, 'GET', `${path}?${query}`)
      assert.equal(response.warnings, warnings, `${path}?${query}`)
    }
})
