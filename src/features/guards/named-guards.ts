import { hashText } from '../../lib/hash.ts'
import { type DecryptedGuard, decryptHeaders, isTrustedGuard } from '../../records/guard-records.ts'
import type { StoredGuard } from '../../records/record-collections.ts'
import type { Store } from '../../records/store.ts'
import type { GuardKind } from '../../types/records/guard-fields.ts'
import type { Guard } from './guard.ts'
import { change, http, invisible, judge, moderation, patterns, pii, secrets, size, tools, words } from './guards.ts'

const guardFactories: { readonly [Kind in GuardKind]: (options: never) => Guard | Promise<Guard> } = {
  ...{ words, patterns, pii, secrets, invisible, size, tools, moderation, judge, change, http },
}

/** A guard without timestamps, because it may not have been stored yet. */
export type UnstoredGuard = Omit<DecryptedGuard, 'createdAt' | 'updatedAt'>

/** Creates a guard from its record. Rejects with a TypeError for an unknown kind, or for options that the kind doesn't support. */
export async function createGuard(record: UnstoredGuard): Promise<Guard> {
  const { kind, source, mac, createdAt, updatedAt, sealedHeaders, ...options } = record as DecryptedGuard
  if (!Object.hasOwn(guardFactories, kind))
    throw new TypeError(`"kind" must be one of ${Object.keys(guardFactories).join(', ')}.`)
  const text = JSON.stringify(Object.entries({ ...record, headers: undefined }).sort()) // `updatedAt` changes whenever the headers do
  const version = `${hashText(text)}-${hashText(text, VERSION_HASH_FACTOR)}`
  return Reflect.apply(guardFactories[kind], undefined, [{ ...options, version }])
}

const VERSION_HASH_FACTOR = 0x01000197

/** A record's guard, or why it can't be used. */
type NamedGuard = { readonly guard: Guard } | { readonly problem: unknown }

/** Creates guards from records and caches them until the records change. */
export class NamedGuards {
  readonly #store: Store
  readonly #guards = new WeakMap<StoredGuard, NamedGuard>()

  constructor(store: Store) {
    this.#store = store
  }

  /** Returns the guards with these names. Rejects with `STORAGE_FAILED`. */
  async find(names: ReadonlySet<string>): Promise<ReadonlyMap<string, NamedGuard>> {
    const records = (await this.#store.guards.all()).filter(({ name }) => names.has(name))
    return new Map(await Promise.all(records.map(async (record) => [record.name, await this.#load(record)] as const)))
  }

  async #load(record: StoredGuard): Promise<NamedGuard> {
    const cachedGuard = this.#guards.get(record)
    if (cachedGuard) return cachedGuard
    let namedGuard: NamedGuard
    try {
      namedGuard = (await isTrustedGuard(this.#store, record))
        ? { guard: await createGuard(await decryptHeaders(this.#store.keyring, record)) }
        : { problem: new TypeError(UNSIGNED_GUARD_MESSAGE) }
    } catch (problem) {
      namedGuard = { problem }
    }
    this.#guards.set(record, namedGuard)
    return namedGuard
  }
}

/** The problem with a guard whose record is unsigned. */
export const UNSIGNED_GUARD_MESSAGE =
  'This record was not written by a gateway with this secret, so requests that need the guard are rejected. Save it again with "kind", and with "url" if you send "headers", or delete it.'
