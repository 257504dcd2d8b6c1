import { assert, suite } from '../support/suite.ts'
import { openManagement } from './open-management.ts'

const test = suite("a key that can't be decrypted")

/** Opens a gateway with three keys, the second of which is damaged in storage. */
async function openWithDamagedKey(damage: (sealedKey: string) => unknown = () => 'AAAA.AAAA') {
  const management = openManagement()
  const ids: string[] = []
  for (const name of ['one', 'two', 'three']) ids.push((await management.expect(201, 'POST', '/api/keys', { name })).id)
  const before = (await management.expect(200, 'GET', '/api/keys')).keys
  for (const { key, value } of await management.storage.list('keys/')) {
    const stored = JSON.parse(value)
    if (stored.record.id !== ids[1]) continue
    stored.record.sealedKey = damage(stored.record.sealedKey)
    await management.storage.set(key, JSON.stringify(stored))
  }
  return { ...management, before, id: ids[1] ?? '' }
}

const SAYS = /cannot be decrypted because it was changed, moved, or encrypted with another secret.*Delete it/

for (const [mode, damage] of [
  ['is not encrypted', () => 'sbx_'],
  ['was changed', (sealed: string) => `${sealed.startsWith('A') ? 'B' : 'A'}${sealed.slice(1)}`],
  ['is missing', () => undefined],
  ['is not a string', () => 7],
] as const) {
  test(`the key list marks a key that can't be decrypted because it ${mode}`, async () => {
    const { expect, before, id } = await openWithDamagedKey(damage)
    const { keys } = await expect(200, 'GET', '/api/keys')
    assert.equal([keys[0], keys[2]], [before[0], before[2]])
    const { error, ...rest } = (keys[1] ?? {}) as { error?: string }
    assert.equal(rest, { ...before[1], key: '' })
    assert.match(error ?? '', SAYS)
    assert.equal(await expect(200, 'GET', `/api/keys/${id}`), { key: keys[1] })
  })
}

test("a key that can't be decrypted can be paused and deleted", async () => {
  const { expect, before, id } = await openWithDamagedKey()
  const { key } = (await expect(200, 'PUT', `/api/keys/${id}`, { isActive: false })) as unknown as {
    key: { isActive: boolean; error: string }
  }
  assert.is(key.isActive, false)
  assert.match(key.error, SAYS)
  await expect(200, 'DELETE', `/api/keys/${id}`)
  assert.equal((await expect(200, 'GET', '/api/keys')).keys, [before[0], before[2]])
})

test('an unreadable keyring, unlike an unreadable key, makes the entire list fail', async () => {
  const { expect, storage } = await openWithDamagedKey()
  const later = openManagement({ storage, secret: 'another secret, as long as secrets must be' })
  await later.expect(500, 'GET', '/api/keys')
  await expect(200, 'GET', '/api/keys')
})
