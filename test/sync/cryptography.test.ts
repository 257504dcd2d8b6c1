import {
  createExchangeKeyPair,
  createIdentity,
  decryptBody,
  deriveSessionSecret,
  encryptBody,
  getGatewayId,
  importIdentity,
  importSessionKey,
  signText,
  verifySignature,
} from '../../src/features/cloud-sync/cryptography.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('cloud protocol cryptography')

test('a signature is valid only for its text and key, and in only one encoding', async () => {
  const kept = await createIdentity()
  const identity = await importIdentity(kept)
  const signature = await signText(identity, 'text')
  assert.is(await verifySignature(kept.publicKey, 'text', signature), true)
  assert.is(await verifySignature(kept.publicKey, 'texT', signature), false)
  assert.is(await verifySignature((await createIdentity()).publicKey, 'text', signature), false)
  for (let index = 0; index < signature.length; index++)
    for (const bit of [1, 2, 4, 8, 16]) {
      const flipped = String.fromCharCode(signature.charCodeAt(index) ^ bit)
      const changed = signature.slice(0, index) + flipped + signature.slice(index + 1)
      assert.is(await verifySignature(kept.publicKey, 'text', changed), false, `bit ${bit} of character ${index}`)
    }
})

test('malformed keys and signatures are invalid', async () => {
  const { publicKey } = await createIdentity()
  for (const [key, signature] of [
    ['', ''],
    [publicKey, ''],
    [publicKey, 'é'],
    ['AAAA', 'AAAA'],
    [`${publicKey}=`, 'AAAA'],
  ] as const)
    assert.is(await verifySignature(key, 'text', signature), false)
})

test('both sides of a session derive the same key, which is bound to a message', async () => {
  const [gateway, proxy] = [await createExchangeKeyPair(), await createExchangeKeyPair()]
  const secret = await deriveSessionSecret(gateway, proxy.publicKey, 'challenge')
  assert.is(await deriveSessionSecret(proxy, gateway.publicKey, 'challenge'), secret)
  assert.is.not(await deriveSessionSecret(proxy, gateway.publicKey, 'another'), secret)
  const key = await importSessionKey(secret)
  const sealed = await encryptBody(key, 'here', '{"a":1}')
  assert.is(await decryptBody(key, 'here', sealed), '{"a":1}')
  const opened = await decryptBody(key, 'there', sealed).catch(() => 'refused')
  assert.is(opened, 'refused')
})

test("a gateway's ID is the digest of its public key", async () => {
  const { publicKey } = await createIdentity()
  assert.match(await getGatewayId(publicKey), /^[0-9a-f]{64}$/)
  assert.is(await getGatewayId(publicKey), await getGatewayId(publicKey))
})
