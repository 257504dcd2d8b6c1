import { gatewayError } from '../errors.ts'
import { mintClientKey } from '../records/key-format.ts'
import { getKeyContext } from '../records/keyring.ts'
import type { KeyRecord } from '../records/record-collections.ts'
import { CONFIRM_KEY_ADVICE } from '../records/rejections.ts'
import type { WritableStore } from '../records/writable-store.ts'
import type { KeyChange, KeyPut } from '../types/records/key-fields.ts'
import type { Clock } from '../types.ts'
import { createInputError } from './input.ts'
import { createEditId, findRecord, getTimestamp, isSameJson, requirePresent, withChange } from './record-operations.ts'

/** A key and its digest. */
export interface FoundKey {
  digest: string
  record: KeyRecord
}

/**
 * Finds keys by ID and changes their records, which are stored under the digests of their values. Remembers the digests, because searching many keys
 * is slow.
 */
export class KeyWriter {
  readonly #store: WritableStore
  readonly #clock: Clock
  #digests = new Map<string, string>()

  constructor(store: WritableStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Finds the key with this ID. Throws `NOT_FOUND`. */
  async find(id: string): Promise<FoundKey> {
    const { keys } = this.#store
    const digest = this.#digests.get(id)
    const record = digest === undefined ? undefined : await keys.get(digest)
    if (digest !== undefined && record?.id === id) return { digest, record }
    const foundKey = await findRecord(keys, 'Key', (entry) => entry.id === id)
    this.#digests = new Map((await keys.entries()).map((entry) => [entry.record.id, entry.id]))
    return { digest: foundKey.id, record: foundKey.record }
  }

  /** Finds the key that a `put` changes. If several keys have the name, the oldest wins. */
  async findByIdOrName(id: string | undefined, name: string): Promise<FoundKey | undefined> {
    const entries = await this.#store.keys.entries({ fresh: true })
    const entry = entries.find(({ record }) => (id === undefined ? record.name === name : record.id === id))
    return entry && { digest: entry.id, record: entry.record }
  }

  /**
   * Encrypts a value and stores the record under its digest. Resolves to the digest, or to `undefined` if it is taken. `order` is the position in the
   * list. Default: the last.
   */
  async insert(
    key: string,
    { sha256, ...record }: Omit<KeyRecord, 'sealedKey'>,
    order?: number,
  ): Promise<string | undefined> {
    const keyring = await this.#store.keyring()
    const sealedKey = await keyring.encrypt(getKeyContext(record.id), key)
    const digest = await keyring.digest(key)
    if (!(await this.#store.keys.insert(digest, { ...record, sealedKey }, order))) return undefined
    this.#digests.set(record.id, digest)
    return digest
  }

  /** Creates a key. Resolves to its digest, or to `false` if another process has just created the same key. */
  async add(
    id: string | undefined,
    key: string,
    { isActive = true, ...fields }: Omit<KeyPut, 'id' | 'key'>,
  ): Promise<string | false> {
    const baseRecord = {
      id: id ?? crypto.randomUUID(),
      name: fields.name,
      isActive,
      createdAt: getTimestamp(this.#clock),
    }
    const digest = await this.insert(key, applyChange(baseRecord, { ...fields, isActive }))
    if (digest !== undefined) return digest
    if (await this.findByIdOrName(id, fields.name)) return false
    throw createKeyTakenError()
  }

  /** Creates a key with a generated value. Runs exclusively, because several gateways could otherwise create the same key. */
  addExclusively(id: string | undefined, fields: Omit<KeyPut, 'id' | 'key'>): Promise<string | false> {
    return this.#store.runExclusive('keys', async (assertLease) => {
      const existingKey = await this.findByIdOrName(id, fields.name) // another gateway may have created the key
      assertLease()
      return existingKey ? this.change(existingKey, undefined, fields) : this.add(id, mintClientKey(), fields)
    })
  }

  /** Changes a key's fields. Resolves to `undefined` if the key has been deleted. */
  update(digest: string, change: KeyChange): Promise<KeyRecord | undefined> {
    return this.#store.keys.update(digest, async (current) => {
      if (change.isActive === undefined && !(await this.#store.isSignedKey(digest, current)))
        throw createInputError(UNSIGNED_KEY)
      return checkOwner(applyChange(current, change))
    })
  }

  /** Changes a key, and its value if `key` is set. Writes nothing if nothing would change. Resolves to its digest. */
  async change({ digest, record }: FoundKey, key: string | undefined, changes: Partial<KeyPut>): Promise<string> {
    const { keys, isSignedKey, keyring } = this.#store
    const isSigned = await isSignedKey(digest, record)
    if (!isSigned && changes.isActive === undefined) throw createInputError(UNSIGNED_KEY)
    const changedRecord = checkOwner(withChange(record, changes))
    const newDigest = key === undefined ? digest : await (await keyring()).digest(key)
    if (key !== undefined && newDigest !== digest) {
      // An interrupted call may have inserted the new value.
      const isStored =
        (await this.insert(key, applyChange(record, changes))) ?? (await keys.get(newDigest))?.id === record.id
      if (!isStored) throw createKeyTakenError()
      await keys.remove(digest)
    } else if (!isSigned || !isSameJson(record, changedRecord)) {
      await keys.update(digest, (current) => applyChange(current, changes))
    }
    return newDigest
  }

  /** Gives a key a new value. The old value keeps working for `graceMs`. */
  rotate(id: string, graceMs: number): Promise<FoundKey> {
    const { keys, isSignedKey, runExclusive } = this.#store
    return runExclusive('keys', async (assertLease) => {
      const { digest: oldDigest } = await this.find(id)
      const current = requirePresent(await keys.get(oldDigest), 'Key')
      if (!(await isSignedKey(oldDigest, current))) throw createInputError(UNSIGNED_KEY)
      assertLease()
      const order = (await keys.entries()).find((entry) => entry.id === oldDigest)?.order
      const newDigest = await this.insert(mintClientKey(), current, order)
      if (newDigest === undefined) throw gatewayError('INTERNAL') // two random 256-bit values collided
      await this.#updatePreviousKeys(id, {
        from: oldDigest,
        to: newDigest,
        until: graceMs === 0 ? undefined : this.#clock.now() + graceMs,
      })
      return this.#moveRecord(current, { from: oldDigest, to: newDigest })
    })
  }

  /** Removes a key and its previous values. Throws `NOT_FOUND`. */
  async remove(id: string): Promise<void> {
    const { digest } = await this.find(id)
    const removedRecord = await this.#store.keys.remove(digest)
    this.#digests.delete(id)
    requirePresent(removedRecord, 'Key')
    for (const { id: previous, record } of await this.#listPreviousKeys())
      if (record.id === id) await this.#store.previousKeys.remove(previous)
  }

  /** Returns a copy, because changes mutate the list. */
  async #listPreviousKeys() {
    return [...(await this.#store.previousKeys.entries({ fresh: true }))]
  }

  /** Stores how long a replaced value works. Without `until`, it and all of the key's earlier values stop working. */
  async #updatePreviousKeys(id: string, { from, to, until }: { from: string; to: string; until: number | undefined }) {
    const { previousKeys } = this.#store
    for (const { id: digest, record } of await this.#listPreviousKeys()) {
      const isExpired = Date.parse(record.until) <= this.#clock.now() || (record.id === id && until === undefined)
      if (isExpired) await previousKeys.remove(digest)
      else if (record.id === id) await previousKeys.update(digest, (previous) => ({ ...previous, to }))
    }
    if (until !== undefined) await previousKeys.insert(from, { id, to, until: new Date(until).toISOString() })
  }

  /** Removes a key's old record after the key's value was replaced. Keeps changes made by others in the meantime. */
  async #moveRecord(record: KeyRecord, { from, to }: { from: string; to: string }): Promise<FoundKey> {
    const { keys } = this.#store
    for (let movedRecord = record; ; ) {
      if (await keys.remove(from, (current) => isSameJson(current, movedRecord))) break
      const current = await keys.get(from)
      if (!current) {
        await keys.remove(to) // another call deleted the key in the meantime
        throw gatewayError('NOT_FOUND', { message: 'Key not found' })
      }
      movedRecord = current
      const { sha256: _, sealedKey: __, ...fields } = current
      await keys.update(to, ({ sealedKey }) => ({ ...fields, sealedKey }))
    }
    return { digest: to, record: requirePresent(await keys.get(to), 'Key') }
  }
}

const applyChange = <T extends object, C extends Partial<KeyPut>>(record: T, changes: C) => ({
  ...withChange(record, changes),
  ...(changes.isActive !== undefined && { edit: createEditId() }),
})

/** Throws `INVALID_REQUEST` if a key has an account together with a group or `actsFor`. */
export function checkOwner<
  T extends { group?: string | null | undefined; account?: string | undefined; actsFor?: object | null | undefined },
>(key: T): T {
  if (key.account === undefined) return key
  if (typeof key.group === 'string') throw createInputError(GROUP_OR_ACCOUNT)
  if (key.actsFor) throw createInputError(ONE_ACCOUNT)
  return key
}

const GROUP_OR_ACCOUNT = 'A key cannot have both a "group" and an "account". The plan of the account is its group'
const ONE_ACCOUNT = 'A key with an "account" cannot have "actsFor", since it only acts for that account'
/** The error for a key whose record was changed elsewhere. */
export const UNSIGNED_KEY = `This record was not written by a gateway with this secret, so the key is rejected. ${CONFIRM_KEY_ADVICE}`
const createKeyTakenError = () => createInputError('"key" must not be the value of another key')
