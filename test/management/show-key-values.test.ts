import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite('the setting showKeyValues')

test('setting showKeyValues to false makes the key list show only hints', async () => {
  const { expect } = openManagement()
  const { key } = await expect(201, 'POST', '/api/keys', { name: 'app' })
  const hint = `${key.slice(0, 6)}…${key.slice(-2)}`
  const listShown = async (query = '') =>
    (await expect(200, 'GET', `/api/keys${query}`)).keys.map((key) => ('hint' in key ? key.hint : key.key))
  assert.equal(await listShown(), [key])
  await expect(200, 'PATCH', '/api/settings', { showKeyValues: false })
  assert.equal(
    [await listShown(), await listShown('?limit=1'), await listShown('?values=none')],
    [[hint], [hint], [hint]],
  )
  await expect(200, 'PATCH', '/api/settings', { showKeyValues: null })
  assert.equal(await listShown(), [key])
})
