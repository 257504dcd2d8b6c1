import { randomBytes } from '../../src/lib/bytes.ts'
import { createKeyring, KEYRING_BYTES } from '../../src/records/keyring.ts'
import { createSignatures } from '../../src/records/signatures.ts'
import type { RecordFields } from '../../src/types/records/record-fields.ts'
import { flag, list, text, time } from '../../src/types/records/shapes.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('signature versions')

const first = {
  id: { shape: text(), signatureVersion: 1 },
  isActive: { shape: flag, isOptional: true, missingValue: true, signatureVersion: 1 },
} as const satisfies RecordFields
const second = {
  ...first,
  expiresAt: { shape: time, isOptional: true, signatureVersion: 2 },
} as const satisfies RecordFields
const third = {
  ...second,
  models: { shape: list(text(), { items: 'models', max: 9 }), isOptional: true, signatureVersion: 3 },
} as const satisfies RecordFields

const releases = { first, second, third } as const
const plain = { id: 'a', isActive: true }
const expiring = { ...plain, expiresAt: '2027-01-01T00:00:00.000Z' }
const limited = { ...plain, models: ['one/m'] }

/** Creates a vault, and the signing and verifying functions of three releases. */
async function world() {
  const vault = await createKeyring(randomBytes(KEYRING_BYTES))
  const proofs = (release: keyof typeof releases) => createSignatures<object>(releases[release])
  return {
    prove: (release: keyof typeof releases, record: object) => proofs(release).sign(vault, 'keys/1', record),
    isValid: (release: keyof typeof releases, record: object, mac: unknown) =>
      proofs(release).verify(vault, 'keys/1', record, mac),
  }
}

test('records without newer fields get a first-version signature in every release', async () => {
  const { prove, isValid } = await world()
  const macs = await Promise.all(
    ['first', 'second', 'third'].map((value) => prove(value as keyof typeof releases, plain)),
  )
  assert.is(new Set(macs).size, 1)
  assert.match(macs[0] ?? '', /^[A-Za-z0-9+/]{43}=$/)
  for (const record of [plain, { id: 'a' }, { ...plain, expiresAt: undefined }])
    assert.ok(await isValid('third', record, macs[0]))
  assert.not.ok(await isValid('third', { ...plain, isActive: false }, macs[0]))
})

test("a signature's version is that of the record's newest field", async () => {
  const { prove, isValid } = await world()
  const mac = await prove('third', expiring)
  assert.match(mac, /^2:/)
  assert.is(mac, await prove('second', expiring))
  assert.match(await prove('third', limited), /^3:/)
  assert.ok(await isValid('third', expiring, mac))
  assert.not.ok(await isValid('first', expiring, mac), "a release that doesn't know the field rejects the record")
})

test('a signature protects newer fields from being changed, removed, or added', async () => {
  const { prove, isValid } = await world()
  const mac = await prove('third', expiring)
  const code = mac.slice('2:'.length)
  for (const record of [
    { ...expiring, expiresAt: '2028-01-01T00:00:00.000Z' },
    plain,
    { ...expiring, models: [] },
    { ...expiring, id: 'b' },
  ])
    for (const input of [mac, code, `1:${code}`, `3:${code}`]) assert.not.ok(await isValid('third', record, input))
  const former = await prove('first', plain)
  for (const input of [former, `2:${former}`, `1:${former}`]) assert.not.ok(await isValid('third', expiring, input))
  for (const odd of [undefined, 5, '', '2:', ':', `02:${code}`, `2:${code}:`, `2:${code}:x`])
    assert.not.ok(await isValid('third', expiring, odd), String(odd))
})
