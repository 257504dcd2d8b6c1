import { assert } from '../../support/suite.ts'
import type { StorageTest } from '../storage.ts'

const TEXTS = [
  '\ufeff{}', // decoders treat this as a byte order mark
  '',
  ' ',
  '0',
  'null',
  'a\r\nb\tc',
  `quotes ' " \` \\ %s $1`,
  'é e\u0301 ß ﷺ',
  '日本語',
  '😀🏳️‍🌈',
  '\uFF5E\u{1F600}',
  '\u2028\u2029\uFEFF',
]

/** Tests `get`, `set`, and `delete` without conditions. */
export function storageValues(test: StorageTest): void {
  test('get returns undefined for a key that was never set', async ({ storage }) => {
    assert.is(await storage.get('absent'), undefined)
    assert.is(await storage.delete('absent'), false)
  })

  test('get returns the last value set, with its version', async ({ storage }) => {
    await storage.set('key', 'first')
    const version = await storage.set('key', 'second')
    assert.equal(await storage.get('key'), { value: 'second', version })
  })

  test('get returns undefined for a deleted key', async ({ storage }) => {
    await storage.set('key', 'value')
    await storage.set('key/other', 'value')
    assert.is(await storage.delete('key'), true)
    assert.is(await storage.delete('key'), false)
    assert.is(await storage.get('key'), undefined)
    assert.is((await storage.get('key/other'))?.value, 'value')
  })

  test('strings with unusual characters are preserved, as values and as keys', async ({ storage, other }) => {
    for (const [index, text] of TEXTS.entries()) await storage.set(`text/${index}`, text)
    for (const text of TEXTS) await storage.set(`key/${text}`, text)
    const reader = await other()
    for (const [index, text] of TEXTS.entries()) assert.is((await reader.get(`text/${index}`))?.value, text)
    for (const text of TEXTS) assert.is((await reader.get(`key/${text}`))?.value, text)
  })

  test("a value of 1 MB, or of the adapter's maximum size, can be stored", async ({ storage, other }) => {
    const phrase = 'The quick brown fox – ' // 24 bytes
    const value = phrase.repeat(Math.min(45_000, Math.floor((storage.largestValueBytes ?? Infinity) / 24)))
    await storage.set('big', value)
    assert.ok((await (await other()).get('big'))?.value === value)
  })

  test("a value or key over the adapter's limit is rejected without changing anything", async ({ storage }) => {
    const { largestValueBytes, longestKeyBytes } = storage
    const version = await storage.set('key', 'value')
    if (largestValueBytes !== undefined) {
      const error = await getError(() => storage.set('key', 'é'.repeat(largestValueBytes / 2 + 1)))
      assert.is(error.code, 'STORAGE_TOO_LARGE')
      assert.match(error.message, `${largestValueBytes}`)
    }
    if (longestKeyBytes !== undefined) {
      const error = await getError(() => storage.set('k'.repeat(longestKeyBytes + 1), 'value'))
      assert.is(error.code, 'STORAGE_TOO_LARGE')
      assert.match(error.message, `${longestKeyBytes}`)
    }
    assert.equal(await storage.list(''), [{ key: 'key', value: 'value', version }])
  })

  test('NUL and unpaired surrogates are preserved exactly, or rejected with a specific error', async ({
    storage,
    other,
  }) => {
    for (const value of ['a\u0000b', 'a\uD800b', '\uDC00']) {
      const before = await storage.get('key')
      const written = await storage.set('key', value).catch((error: unknown) => error)
      const after = (await (await other()).get('key'))?.value
      if (typeof written === 'string') assert.is(after, value)
      else {
        assert.is((written as { code?: string }).code, 'STORAGE_NOT_TEXT')
        assert.is(after, before?.value)
      }
    }
  })

  test('names of built-in object properties are ordinary keys', async ({ storage }) => {
    for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      assert.is(await storage.get(key), undefined)
      await storage.set(key, key)
      assert.is((await storage.get(key))?.value, key)
    }
    assert.is((await storage.list('')).length, 4)
  })
}

async function getError(action: () => Promise<unknown>): Promise<{ code?: string; message: string }> {
  return action().then(
    () => ({ message: 'was not refused' }),
    (error: { code?: string; message: string }) => error,
  )
}
