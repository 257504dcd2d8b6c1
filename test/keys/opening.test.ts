import * as nodeCrypto from 'node:crypto'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { platformCrypto } from '../../src/platform.ts'
import { openVault } from '../../src/store/vault.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('opening sealed values')

const storage = memoryStorage()
const vaultWith = (crypto: unknown) =>
  openVault({
    storage,
    secret: 'a secret, as long as secrets must be',
    logger: { warn() {}, error() {} },
    platformCrypto: () => crypto,
  })
type Vault = Awaited<ReturnType<typeof vaultWith>>

const outcome = ({ open }: Vault, place: string, sealed: string) =>
  open(place, sealed).catch((error: unknown) => String(error))

const PLACE = 'keys/1/key'
const VALUES = ['', 'sbx_abc', 'ä€😀', 'x'.repeat(1_000)]

test("has the same outcome with Node's cryptography as with that of the web", async () => {
  const [node, web] = await Promise.all([vaultWith(nodeCrypto), vaultWith(undefined)])
  for (const value of VALUES) {
    const sealed = await web.seal(PLACE, value)
    assert.is(await node.open(PLACE, sealed), value)
    assert.is(await web.open(PLACE, await node.seal(PLACE, value)), value)
    const [iv = '', cipher = ''] = sealed.split('.')
    const broken = [
      '',
      '.',
      'AAAA.AAAA',
      sealed.replace('.', ''),
      `${iv}.`,
      `.${cipher}`,
      `${iv}.${cipher.slice(4)}`,
      `${iv}.${cipher.slice(0, -4)}`,
      `${iv.slice(4)}.${cipher}`,
      `${cipher}.${iv}`,
      `?${sealed}`,
      Object(7),
    ]
    for (const bad of [...broken, ...flipped(sealed)]) {
      const expected = await outcome(web, PLACE, bad)
      assert.is(await outcome(node, PLACE, bad), expected, `"${bad}"`)
    }
    assert.match(await outcome(node, 'keys/2/key', sealed), /was changed or moved: keys\/2\/key/)
  }
})

test("asks Node's where there is one, and the web's where that does nothing or fails", async () => {
  const sealed = await (await vaultWith(undefined)).seal(PLACE, 'value')
  const unfit = () => {
    throw new Error('not here')
  }
  const { createSecretKey } = nodeCrypto
  const others = [{}, { createSecretKey }, { ...nodeCrypto, createDecipheriv: unfit }, { createSecretKey: unfit }]
  for (const crypto of [undefined, null, ...others])
    assert.is(await (await vaultWith(crypto)).open(PLACE, sealed), 'value')

  let openedCount = 0
  const createDecipheriv = (...args: unknown[]) => {
    openedCount++
    return Reflect.apply(nodeCrypto.createDecipheriv, undefined, args)
  }
  assert.is(await (await vaultWith({ ...nodeCrypto, createDecipheriv })).open(PLACE, sealed), 'value')
  assert.is(openedCount, 1)
  assert.is((platformCrypto() as typeof nodeCrypto).createDecipheriv, nodeCrypto.createDecipheriv)
})

/** The text with one bit of one of some characters changed. */
const flipped = (text: string) =>
  Array.from({ length: 20 }, (_, step) => {
    const at = Math.floor((step * text.length) / 20)
    return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1)
  })
