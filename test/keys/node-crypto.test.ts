import { randomBytes } from '../../src/lib/bytes.ts'
import { platformCrypto } from '../../src/platform.ts'
import { createKeyring, KEYRING_BYTES } from '../../src/records/keyring.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite("the keyring with Node's crypto module")

const PLACE = 'keys/1/key'
const TEXTS = ['', 'sbx_', 'ä€🙂', 'a'.repeat(100_000)]

/** Creates the same keyring twice: with WebCrypto only, and with Node's synchronous functions. */
async function openVaults() {
  assert.ok(platformCrypto, 'there is no platform crypto')
  const keys = randomBytes(KEYRING_BYTES)
  return { web: await createKeyring(keys), node: await createKeyring(keys, { syncCrypto: platformCrypto }) }
}

const changeByte = (base64: string, index: number) => {
  const other = base64[index] === 'A' ? 'B' : 'A'
  return base64.slice(0, index) + other + base64.slice(index + 1)
}

test("Node's functions decrypt data encrypted by WebCrypto", async () => {
  const { web, node } = await openVaults()
  for (const text of TEXTS) assert.is(await node.decrypt(PLACE, await web.encrypt(PLACE, text)), text)
})

test("Node's functions reject the same moved, changed, and truncated data as WebCrypto", async () => {
  const { web, node } = await openVaults()
  const sealed = await web.encrypt(PLACE, 'the value of a key')
  const [iv = '', cipher = ''] = sealed.split('.')
  const rejected: Array<[place: string, sealed: string]> = [
    ['keys/2/key', sealed],
    [PLACE, changeByte(sealed, 0)],
    [PLACE, changeByte(sealed, iv.length + 1)],
    [PLACE, changeByte(sealed, sealed.length - 4)],
    [PLACE, `${iv}.${cipher.slice(0, -4)}`],
    [PLACE, `${iv}.${cipher.slice(0, 8)}`],
    [PLACE, `${iv}.`],
    [PLACE, `.${cipher}`],
    [PLACE, iv],
    [PLACE, ''],
    [PLACE, '*.*'],
  ]
  for (const [location, text] of rejected)
    for (const vault of [web, node]) {
      const error = await vault.decrypt(location, text).catch(({ code }) => code)
      assert.is(error, 'STORAGE_FAILED', `${location} ${text}`)
    }
})

test("Node's functions accept and reject the same signatures as WebCrypto", async () => {
  const { web, node } = await openVaults()
  for (const text of TEXTS) {
    const mac = await web.sign(PLACE, text)
    for (const vault of [web, node]) {
      assert.is(await vault.verify(PLACE, text, mac), true)
      for (const [location, other, wrong] of [
        ['keys/2/key', text, mac],
        [PLACE, `${text} `, mac],
        [PLACE, text, changeByte(mac, 0)],
        [PLACE, text, changeByte(mac, 41)],
        [PLACE, text, mac.slice(4)],
        [PLACE, text, ''],
        [PLACE, text, undefined],
      ] as const)
        assert.is(await vault.verify(location, other, wrong), false, `${location} ${wrong}`)
    }
  }
})
