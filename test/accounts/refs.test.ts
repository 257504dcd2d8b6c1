import { createAccountRefs } from '../../src/features/accounts/account-refs.ts'
import { isAccountId, isAccountRef } from '../../src/lib/account-ids.ts'
import { createKeyring, KEYRING_BYTES } from '../../src/records/keyring.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('account refs')

const createRefs = async (fill: number) => {
  const keyring = await createKeyring(new Uint8Array(KEYRING_BYTES).fill(fill))
  return createAccountRefs(async () => keyring)
}

test('a ref is stable for an id and a keyring, and differs between ids and between keyrings', async () => {
  const refs = await createRefs(1)
  const found = await Promise.all(HOSTILE_IDS.map((id) => refs.find(id)))
  assert.is(new Set(found).size, HOSTILE_IDS.length)
  for (const ref of found) assert.match(ref, /^a_[a-z2-7]{26}$/)
  assert.equal(await Promise.all(HOSTILE_IDS.map((id) => refs.find(id))), found)
  assert.equal(await Promise.all(HOSTILE_IDS.map(async (id) => (await createRefs(1)).find(id))), found)
  assert.is.not(await (await createRefs(2)).find('a/b'), await refs.find('a/b'))
})

test('a ref encodes the first 130 bits of the hash in base32', async () => {
  const hash = Uint8Array.from({ length: 32 }, (_, index) => index)
  const ref = await createAccountRefs(async () => ({ hashForLookup: async () => hash })).find('any')
  assert.is(ref, 'a_aaaqeayeaudaocajbifqydiob4')
})

test('an account can be looked up by its ref or id', async () => {
  const refs = await createRefs(1)
  const ref = await refs.find('alice')
  assert.is(await refs.resolve('alice'), ref)
  assert.is(await refs.resolve(ref), ref)
  assert.ok(isAccountRef(ref))
})

test('ids can have up to 200 characters in NFC, without control characters or surrounding whitespace', () => {
  for (const id of [...HOSTILE_IDS, 'x'.repeat(200), 'with blanks', 'é', '😀']) assert.ok(isAccountId(id), id)
  const rejected = ['', 'x'.repeat(201), ' a', 'a ', '\u0000', 'a\u200b', '\u202e', '\ud800', 'e\u0301', 'a\nb']
  for (const id of [...rejected, `a_${'a'.repeat(26)}`]) assert.not.ok(isAccountId(id), JSON.stringify(id))
})

const HOSTILE_IDS = ['__proto__', 'constructor', 'a/b', '../x', '%2e', 'A', 'a']
