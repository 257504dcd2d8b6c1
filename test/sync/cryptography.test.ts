import {
  createExchangeHalf,
  createIdentity,
  gatewayId,
  importIdentity,
  isSigned,
  openBody,
  sealBody,
  sessionKey,
  sessionSecret,
  sign,
} from '../../src/sync/cryptography.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the cryptography of the cloud protocol')

test('a signature holds for its text and its key alone, and in one spelling', async () => {
  const kept = await createIdentity()
  const identity = await importIdentity(kept)
  const signature = await sign(identity, 'text')
  assert.is(await isSigned(kept.publicKey, 'text', signature), true)
  assert.is(await isSigned(kept.publicKey, 'texT', signature), false)
  assert.is(await isSigned((await createIdentity()).publicKey, 'text', signature), false)
  for (let at = 0; at < signature.length; at++)
    for (const bit of [1, 2, 4, 8, 16]) {
      const flipped = String.fromCharCode(signature.charCodeAt(at) ^ bit)
      const changed = signature.slice(0, at) + flipped + signature.slice(at + 1)
      assert.is(await isSigned(kept.publicKey, 'text', changed), false, `bit ${bit} of character ${at}`)
    }
})

test('malformed keys and signatures are no signatures', async () => {
  const { publicKey } = await createIdentity()
  for (const [key, signature] of [
    ['', ''],
    [publicKey, ''],
    [publicKey, 'é'],
    ['AAAA', 'AAAA'],
    [`${publicKey}=`, 'AAAA'],
  ] as const)
    assert.is(await isSigned(key, 'text', signature), false)
})

test('both sides of a session come to one key, which opens a body at its place alone', async () => {
  const [gateway, proxy] = [await createExchangeHalf(), await createExchangeHalf()]
  const secret = await sessionSecret(gateway, proxy.publicKey, 'challenge')
  assert.is(await sessionSecret(proxy, gateway.publicKey, 'challenge'), secret)
  assert.is.not(await sessionSecret(proxy, gateway.publicKey, 'another'), secret)
  const key = await sessionKey(secret)
  const sealed = await sealBody(key, 'here', '{"a":1}')
  assert.is(await openBody(key, 'here', sealed), '{"a":1}')
  const opened = await openBody(key, 'there', sealed).catch(() => 'refused')
  assert.is(opened, 'refused')
})

test('the id of a gateway is the digest of its public key', async () => {
  const { publicKey } = await createIdentity()
  assert.match(await gatewayId(publicKey), /^[0-9a-f]{64}$/)
  assert.is(await gatewayId(publicKey), await gatewayId(publicKey))
})
