import * as nodeCrypto from 'node:crypto'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { platformCrypto } from '../../src/platform.ts'
import { openVault } from '../../src/store/vault.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the cryptography of the vault')

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

test("computes the same digest with Node's cryptography as with that of the web", async () => {
  const [node, web] = await Promise.all([vaultWith(nodeCrypto), vaultWith(undefined)])
  for (const value of VALUES) assert.is(await node.digest(value), await web.digest(value))
})

test("asks Node's where there is one, and the web's where that does nothing or fails", async () => {
  const web = await vaultWith(undefined)
  const sealed = await web.seal(PLACE, 'value')
  const digest = await web.digest('value')
  const unfit = () => {
    throw new Error('not here')
  }
  const { createSecretKey } = nodeCrypto
  const partial = [{}, { createSecretKey }, { ...nodeCrypto, createDecipheriv: unfit, createHmac: unfit }]
  for (const crypto of [undefined, null, { createSecretKey: unfit }, ...partial]) {
    const vault = await vaultWith(crypto)
    assert.equal([await vault.open(PLACE, sealed), await vault.digest('value')], ['value', digest])
  }

  const asked: string[] = []
  const createDecipheriv = (...args: unknown[]) => {
    asked.push('open')
    return Reflect.apply(nodeCrypto.createDecipheriv, undefined, args)
  }
  const createHmac = (...args: unknown[]) => {
    asked.push('digest')
    return Reflect.apply(nodeCrypto.createHmac, undefined, args)
  }
  const vault = await vaultWith({ ...nodeCrypto, createDecipheriv, createHmac })
  assert.equal([await vault.open(PLACE, sealed), await vault.digest('value')], ['value', digest])
  assert.equal(asked, ['open', 'digest'])
  assert.is((platformCrypto() as typeof nodeCrypto).createHmac, nodeCrypto.createHmac)
})

/** The text with one bit of one of some characters changed. */
const flipped = (text: string) =>
  Array.from({ length: 20 }, (_, step) => {
    const at = Math.floor((step * text.length) / 20)
    return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1)
  })
