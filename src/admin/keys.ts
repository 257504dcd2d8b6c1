import * as v from 'valibot'
import { gatewayError } from '../errors.ts'
import type { ScopeName } from '../features/limits/ledger/ledger.ts'
import { createMutex } from '../lib/promises.ts'
import { mintClientKey } from '../records/key-format.ts'
import { retryOnConflict } from '../records/storage-access.ts'
import type { WritableStore } from '../records/writable-store.ts'
import { type KeyChange, type KeyPut, keyFields, type NewKey } from '../types/records/key-fields.ts'
import type { ApiKey } from '../types.ts'
import { GROUPS_MUTEX } from './groups.ts'
import { requireGuards } from './guard-names.ts'
import { closedObject, createInputError, createIntegerSchema, type OrUnset, parseInput, parsePut } from './input.ts'
import { type KeyHintsQuery, type KeysQuery, type KeyValuesQuery, keyViews, type MaskedKey } from './key-listing.ts'
import { createKeyReader } from './key-reader.ts'
import { type KeyWarningSources, listKeyWarnings } from './key-warnings.ts'
import { checkOwner, type FoundKey, KeyWriter } from './key-writer.ts'
import { getTimestamp, requirePresent } from './record-operations.ts'
import { createInputSchema } from './schemas.ts'
import { type WithWarnings, withWarnings } from './warnings.ts'

/**
 * API keys (src/rules.md, Client keys). Methods take the typed input or `Input`, which is `never` for in-process calls and `unknown` for HTTP bodies.
 */
export interface KeyOperations<Input = never> {
  /** Lists keys in creation order. `after` is the start of the next page, if there is one. */
  list(): Promise<{ keys: KeyView[] }>
  list(query: KeysQuery & KeyHintsQuery): Promise<{ keys: MaskedKey[]; after?: string }>
  list(query: KeysQuery | Input): Promise<{ keys: (KeyView | MaskedKey)[]; after?: string }>
  get(id: string): Promise<{ key: KeyView }>
  get(id: string, view: KeyHintsQuery): Promise<{ key: MaskedKey }>
  get(id: string, view: KeyValuesQuery | Input): Promise<{ key: KeyView | MaskedKey }>
  /**
   * Resolves to the key's value as `key`. `name` must not be blank. Like the other changes, it returns `warnings` about anything that keeps
   * its limits from being exact.
   */
  create(input: NewKey | Input): Promise<CreatedKey>
  /** Takes effect with the next request. Omitted fields stay the same; `null` removes a field. */
  update(id: string, input: KeyChange | Input): Promise<{ key: KeyView } & WithWarnings>
  /**
   * Creates the key with this `id`, or this `name` if there is no ID. If it exists, changes the given fields. Writes nothing if nothing would change,
   * so you can call it at every start. `key` is your own value: `sbx_` and 32 to 196 letters, digits, `_`, and `-`. Without it, a value is generated
   * once. A new value replaces the old one immediately. Rejects with `INVALID_REQUEST` if a field is `undefined`, for example because a variable is
   * unset.
   */
  put(input: OrUnset<KeyPut> | Input): Promise<{ key: KeyView } & WithWarnings>
  /**
   * Gives the key a new value and returns it like `create`. The old value keeps working for `graceMs` (default 0, at most 30 days). Without
   * `graceMs`, values from earlier rotations also stop working.
   */
  rotate(id: string, input?: KeyRotation | Input): Promise<CreatedKey>
  delete(id: string): Promise<{ success: true }>
}

/** How to rotate a key. */
export interface KeyRotation {
  graceMs?: number
}

/** An API key, as the management API returns it. */
export interface KeyView extends ApiKey {
  /**
   * The problem with the key: its value can't be decrypted (`key` is empty), or its record was changed outside the gateway (the key is rejected).
   * Absent if there is no problem.
   */
  error?: string
}

/** A newly created key, which is active. */
export interface CreatedKey extends Omit<ApiKey, 'isActive'>, WithWarnings {}

/** Returns the result for a new key. */
export function toCreatedKey({ key, isActive, error, ...rest }: KeyView): CreatedKey {
  return { key, ...rest }
}

/** The longest time that a replaced value can keep working: 30 days, in ms. */
const MAX_GRACE_MS = 30 * 24 * 60 * 60 * 1_000

export const keyInputs = {
  ...keyViews,
  create: createInputSchema(keyFields, 'create'),
  update: createInputSchema(keyFields, 'update'),
  put: createInputSchema(keyFields, 'put'),
  rotate: closedObject({ graceMs: v.exactOptional(createIntegerSchema(0, MAX_GRACE_MS)) }),
}

export function createKeyOperations(
  deps: KeyWarningSources & {
    store: WritableStore
    nextTurn(): Promise<void>
    /** Removes a deleted key's counters. Never rejects. */
    forgetLimits(scope: ScopeName): Promise<void>
    /** Returns the account ref for a key; creates the account if needed. Throws `INVALID_REQUEST` if that isn't possible. */
    resolveAccount(idOrRef: string): Promise<string>
    /** Returns the ref of the account with this ID or ref. */
    findAccountRef(idOrRef: string): Promise<string>
  },
): KeyOperations<unknown> {
  const { store, clock, nextTurn, forgetLimits, resolveAccount, findAccountRef } = deps
  const writer = new KeyWriter(store, clock)
  const { showKey, list, get } = createKeyReader({
    store,
    clock,
    nextTurn,
    findAccountRef,
    find: (id) => writer.find(id),
  })
  const runInOrder = createMutex() // so concurrent calls for one name create only one key

  const showWithWarnings = async (foundKey: FoundKey): Promise<{ key: KeyView } & WithWarnings> =>
    withWarnings({ key: await showKey(foundKey) }, await listKeyWarnings(foundKey.record, deps))

  /** Runs work that adds a key to this group, which can't be deleted until the work is done. Throws `INVALID_REQUEST` if there is no such group. */
  function runInGroup<T>(group: string | null | undefined, work: () => Promise<T>): Promise<T> {
    if (typeof group !== 'string') return work()
    return store.runExclusive(GROUPS_MUTEX, async (assertLease) => {
      if (!(await store.groups.get(group)))
        throw createInputError(`"group" must be the ID of a group; no group has the ID "${group}"`)
      assertLease()
      return work()
    })
  }

  /** Returns the input with its account's ref. */
  async function withAccount<T extends Pick<KeyPut, 'account' | 'actsFor' | 'group'>>(input: T): Promise<T> {
    if (input.account === undefined) return input
    checkOwner(input)
    return { ...input, account: await resolveAccount(input.account) }
  }

  return {
    list,
    get,

    async create(input) {
      const key = mintClientKey()
      const { name, ...rest } = await withAccount(parseInput(keyInputs.create, input))
      await requireGuards(store, rest)
      const record = { id: crypto.randomUUID(), name, isActive: true, createdAt: getTimestamp(clock), ...rest }
      const digest = await runInGroup(rest.group, () => writer.insert(key, record))
      if (digest === undefined) throw gatewayError('INTERNAL') // two random 256-bit values collided
      return withWarnings(toCreatedKey({ ...record, key }), await listKeyWarnings(record, deps))
    },

    async update(id, input) {
      const change = parseInput(keyInputs.update, input)
      if (Object.keys(change).length === 0)
        throw createInputError('Send "isActive", "name", or another field to change.')
      await requireGuards(store, change)
      const { digest } = await writer.find(id)
      const record = await runInGroup(change.group, () => writer.update(digest, change))
      return showWithWarnings({ digest, record: requirePresent(record, 'Key') })
    },

    async put(input) {
      const { id, key, ...fields } = await withAccount(parsePut(keyInputs.put, input))
      await requireGuards(store, fields)
      return runInOrder(async () => {
        const digest = await retryOnConflict(async () => {
          const existingKey = await writer.findByIdOrName(id, fields.name)
          const newGroup = existingKey?.record.group === fields.group ? undefined : fields.group
          return runInGroup(newGroup, async () => {
            if (existingKey) return writer.change(existingKey, key, fields)
            return key === undefined ? writer.addExclusively(id, fields) : writer.add(id, key, fields)
          })
        })
        return showWithWarnings({ digest, record: requirePresent(await store.keys.get(digest), 'Key') })
      })
    },

    rotate: (id, input = {}) =>
      runInOrder(async () => {
        const { graceMs = 0 } = parseInput(keyInputs.rotate, input)
        const rotatedKey = await writer.rotate(id, graceMs)
        return withWarnings(toCreatedKey(await showKey(rotatedKey)), await listKeyWarnings(rotatedKey.record, deps))
      }),

    async delete(id) {
      await writer.remove(id)
      await forgetLimits({ scope: 'key', id })
      return { success: true }
    },
  }
}
