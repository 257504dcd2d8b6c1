import { memoryStorage } from '../../adapters/storage/memory.ts'
import { isGatewayError } from '../../src/errors.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Storage } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the keyring')

const withoutSecret = (): Storage => {
  const { ownSecret: _, ...storage } = memoryStorage()
  return storage
}
const getCode = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no failure',
    (error: unknown) => (isGatewayError(error) ? error.code : String(error)),
  )
const makeKey = (storage: Storage) => createGateway({ storage, logger: false }).api.keys.create({ name: 'team' })

test('an empty list of secrets is treated as a missing secret', async () => {
  for (const version of ['none', 'default', 0]) {
    const storage = withoutSecret()
    const { key } = await makeKey(storage)
    const unsealed = (await storage.get('vault'))?.value
    const open = () => createGateway({ storage, logger: false, secret: [{ version, value: 's'.repeat(32) }] }).api.keys
    assert.is((await open().list()).keys[0]?.key, key)
    assert.is.not((await storage.get('vault'))?.value, unsealed, `${version}: the secret now encrypts the keyring`)
    assert.is((await open().list()).keys[0]?.key, key, `${version}: the keyring can be decrypted again`)
    assert.is(await getCode(createGateway({ storage, logger: false }).api.keys.list()), 'SECRET_MISMATCH')
  }
})

test('an unencrypted keyring in a storage that has a secret is rejected, with or without the `secret` option', async () => {
  const unsealed = withoutSecret()
  await makeKey(unsealed)
  const planted = (await unsealed.get('vault'))?.value ?? ''
  for (const options of [{}, { secret: 's'.repeat(32) }]) {
    const storage = memoryStorage()
    await storage.set('vault', planted)
    const { connections } = createGateway({ storage, logger: false, ...options }).api
    const seeding = connections.put({ id: 'main', provider: 'openai', apiKey: 'sk-test-0123456789-abcd' })
    assert.is(await getCode(seeding), 'STORAGE_FAILED')
    assert.is((await storage.get('vault'))?.value, planted)
    assert.equal(await storage.list('connections/'), [])
  }
})

test('createGateway rejects a secret with a missing or invalid version', () => {
  for (const version of ['', ' ', undefined, null, Number.NaN, {}]) {
    const secret = Object([{ version, value: 's'.repeat(32) }])
    assert.throws(() => createGateway({ storage: memoryStorage(), secret }), /secret must be a non-empty string/)
  }
})

test('a storage failure while the keyring is created causes a STORAGE_FAILED error', async () => {
  const full = async () => {
    throw new Error('disk full')
  }
  assert.is(await getCode(makeKey({ ...withoutSecret(), set: full })), 'STORAGE_FAILED')
  assert.is(await getCode(makeKey({ ...memoryStorage(), ownSecret: full })), 'STORAGE_FAILED')
})

test('a damaged keyring record causes a STORAGE_FAILED error', async () => {
  for (const record of ['', '{}', '{"schema":1,"wrappedBy":"","salt":"","keys":"@"}', '{"schema":1,"keys":"AAAA"}']) {
    const storage = withoutSecret()
    await storage.set('vault', record)
    assert.is(await getCode(makeKey(storage)), 'STORAGE_FAILED', record)
  }
})

const starts: Record<string, (storage: Storage) => Promise<unknown>> = {
  'an empty storage': async () => {},
  'a storage that was used without a secret': makeKey,
}
for (const [label, prepare] of Object.entries(starts))
  test(`two gateways that start concurrently on ${label} use the same keyring`, async () => {
    const openKeys = (storage: Storage) => createGateway({ storage, logger: false, secret: 's'.repeat(32) }).api.keys
    let isMet = true
    let index = 0
    while (isMet) {
      const storage = withoutSecret()
      await prepare(storage)
      isMet = false
      let created: Promise<unknown> | undefined
      const meeting = beforeStep(storage, ++index, () => {
        isMet = true
        created = openKeys(storage).create({ name: 'first' })
        return created
      })
      await openKeys(meeting).create({ name: 'second' })
      await created // the operation may be a read-ahead that the second gateway doesn't wait for
      const { keys } = await openKeys(storage).list()
      const names = keys.map(({ name, key }) => `${name} ${key === undefined ? 'is lost' : 'can be shown'}`)
      for (const name of isMet ? ['first', 'second'] : ['second'])
        assert.ok(names.includes(`${name} can be shown`), `before step ${index}: ${names}`)
    }
    assert.ok(index > 5, `there were ${index} steps`)
  })

/** Creates a store that calls `act` once, before the nth operation. */
function beforeStep(storage: Storage, number: number, act: () => Promise<unknown>): Storage {
  let steps = 0
  const step =
    <A extends unknown[], T>(run: (...args: A) => Promise<T>) =>
    async (...args: A) => {
      if (++steps === number) await act()
      return run(...args)
    }
  const { get, set, delete: remove, list } = storage
  return { atomic: true, get: step(get), set: step(set), delete: step(remove), list: step(list) }
}
