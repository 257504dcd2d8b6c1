import { assert, suite } from '../support/suite.ts'
import { openDoor } from './open-management.ts'

const test = suite('the setting showKeyValues')

test('setting showKeyValues to false makes the key list show only hints', async () => {
  const { expect } = openDoor()
  const { key } = await expect(201, 'POST', '/api/keys', { name: 'app' })
  const hint = `${key.slice(0, 6)}…${key.slice(-2)}`
  const shown = async (query = '') =>
    (await expect(200, 'GET', `/api/keys${query}`)).keys.map((key) => ('hint' in key ? key.hint : key.key))
  assert.equal(await shown(), [key])
  await expect(200, 'PATCH', '/api/settings', { showKeyValues: false })
  assert.equal([await shown(), await shown('?limit=1'), await shown('?values=none')], [[hint], [hint], [hint]])
  await expect(200, 'PATCH', '/api/settings', { showKeyValues: null })
  assert.equal(await shown(), [key])
})
