import { memoryStorage } from '../../adapters/storage/memory.ts'
import { checkKeys } from '../../src/cli/data-folder.ts'
import { getKeyContext } from '../../src/records/keyring.ts'
import { openKeyring } from '../../src/records/open-keyring.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the key check at startup')

/** Opens a store with this many keys. `check` runs the startup check, and resolves to its warnings and the number of decrypted values. */
async function withKeys(count: number) {
  const storage = memoryStorage()
  const getKeyPath = (place: number) => `keys/${place.toString(16).padStart(64, '0')}`
  const put = (place: number, sealedKey = getKeyContext(`id-${place}`)) => {
    const record = { id: `id-${place}`, name: `key ${place}`, sealedKey, createdAt: '2026-01-01T00:00:00Z', mac: 'M' }
    return storage.set(getKeyPath(place), JSON.stringify({ order: count - place, record }))
  }
  for (let place = 0; place < count; place++) await put(place)

  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message), error: assert.unreachable }
  let openedCount = 0
  const check = async () => {
    await checkKeys(storage, { ...vault, decrypt: open }, logger)
    return { warnings, openedCount }
  }
  async function open(location: string, sealed: string) {
    openedCount++
    if (sealed !== location) throw new Error('changed')
    return 'value'
  }
  return { storage, at: getKeyPath, put, check }
}

const vault = await openKeyring({
  storage: memoryStorage(),
  secret: 'a secret, as long as secrets must be',
  logger: { warn() {}, error() {} },
})

test('decrypts all of a few keys at startup, and reports each undecryptable one', async () => {
  const { put, check } = await withKeys(20)
  assert.equal(await check(), { warnings: [], openedCount: 20 })
  await put(3, 'AAAA.AAAA')
  await put(19, 'AAAA.AAAA')
  const { warnings } = await check()
  assert.equal(
    warnings.map((warning) => warning.slice(0, 30)),
    ['key 3: The key cannot be decry', 'key 19: The key cannot be decr'],
  )
})

test('decrypts only a sample of keys at startup if there are many', async () => {
  const { check } = await withKeys(2_500)
  assert.equal(await check(), { warnings: [], openedCount: 500 })
})

test('reads all keys at startup, and reports each damaged record', async () => {
  for (const [count, place] of [
    [1, 0],
    [2_500, 0],
    [2_500, 2_499],
  ] as const) {
    const { storage, at, put, check } = await withKeys(count)
    if (count > 1) await put(1, 'AAAA.AAAA')
    await storage.set(at(place), '{"order":')
    const { warnings } = await check()
    assert.ok(
      warnings.includes(`The stored record ${at(place)} is not a JSON object with a "record", so it is skipped.`),
    )
    assert.is(warnings.length, count > 1 ? 2 : 1)
  }
})
