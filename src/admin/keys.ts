import * as v from 'valibot'
import { gatewayError } from '../errors.ts'
import type { AccountName } from '../features/limits/ledger/ledger.ts'
import { createMutex } from '../lib/promises.ts'
import { mintClientKey } from '../records/key-format.ts'
import { CONFIRM_KEY } from '../records/key-lookup.ts'
import { decryptKey, getKeyContext, UNREADABLE_KEY } from '../records/keyring.ts'
import type { KeyRecord } from '../records/record-collections.ts'
import type { Records } from '../records/records.ts'
import { retryLostRace } from '../records/storage-access.ts'
import type { WritableStore } from '../records/writable-store.ts'
import { type KeyChange, type KeyPut, keyFields, type NewKey } from '../types/records/key-fields.ts'
import type { ApiKey } from '../types.ts'
import { GROUPS_TURN } from './groups.ts'
import { closed, invalidInput, type OrUnset, parseInput, parsePut, wholeNumber } from './input.ts'
import {
  findPage,
  type HintedKey,
  type HintView,
  hideValue,
  type KeysQuery,
  type KeyView,
  keyViews,
} from './key-listing.ts'
import { type KeyWarningSources, keyWarnings } from './key-warnings.ts'
import {
  findRecord,
  isSameJson,
  newEdit,
  pickShownFields,
  present,
  timestamp,
  withChange,
} from './record-operations.ts'
import { inputSchema } from './schemas.ts'
import { type Warned, withWarnings } from './warnings.ts'

/**
 * API keys (src/rules.md, Client keys). `Input` is accepted in addition to the typed input: nothing in process, `unknown` for HTTP bodies.
 */
export interface KeyOperations<Input = never> {
  /** In the order of their creation. `after` of the next page, if there is one. */
  list(): Promise<{ keys: ShownKey[] }>
  list(query: KeysQuery & HintView): Promise<{ keys: HintedKey[]; after?: string }>
  list(query: KeysQuery | Input): Promise<{ keys: (ShownKey | HintedKey)[]; after?: string }>
  get(id: string): Promise<{ key: ShownKey }>
  get(id: string, view: HintView): Promise<{ key: HintedKey }>
  get(id: string, view: KeyView | Input): Promise<{ key: ShownKey | HintedKey }>
  /**
   * Resolves to the key's value as `key`. `name` must not be blank. Like the other changes, it returns `warnings` about anything that keeps
   * its limits from being exact.
   */
  create(input: NewKey | Input): Promise<CreatedKey>
  /** Takes effect with the next request. Omitted fields stay the same; `null` removes a field. */
  update(id: string, input: KeyChange | Input): Promise<{ key: ShownKey } & Warned>
  /**
   * Creates the key with this `id`, or this `name` if there is no id, or changes the given fields; omitted fields stay the same. Writes
   * nothing if nothing would change, so you can call it at every start. `key` is your own value: `sbx_` and 32 to 196 letters, digits, `_`,
   * and `-`; without it, a value is generated once. A new value replaces the old one immediately. A field that is `undefined`, such as from
   * an unset variable, is an `INVALID_REQUEST`.
   */
  put(input: OrUnset<KeyPut> | Input): Promise<{ key: ShownKey } & Warned>
  /**
   * Gives the key a new value and returns it like `create`. The old value keeps working for `graceMs` (default 0, at most 30 days); without
   * it, values from earlier rotations stop working, too.
   */
  rotate(id: string, input?: KeyRotation | Input): Promise<CreatedKey>
  delete(id: string): Promise<{ success: true }>
}

/** How to rotate a key. */
export interface KeyRotation {
  graceMs?: number
}

/** An API key, as the management API returns it. */
export interface ShownKey extends ApiKey {
  /**
   * The problem with the key: its value can't be decrypted (`key` is empty), or its record was changed outside the gateway (the key is rejected).
   * Absent if nothing is.
   */
  error?: string
}

/** A newly created key, which is active. */
export interface CreatedKey extends Omit<ApiKey, 'isActive'>, Warned {}

/** The result for a new key. */
export function createdKey({ key, isActive, error, ...rest }: ShownKey): CreatedKey {
  return { key, ...rest }
}

/** Longest time that a replaced value can keep working: 30 days, in ms. */
const MAX_GRACE_MS = 30 * 24 * 60 * 60 * 1_000

export const keyInputs = {
  ...keyViews,
  create: inputSchema(keyFields, 'create'),
  update: inputSchema(keyFields, 'update'),
  put: inputSchema(keyFields, 'put'),
  rotate: closed({ graceMs: v.exactOptional(wholeNumber(0, MAX_GRACE_MS)) }),
}

export function createKeyOperations(
  deps: KeyWarningSources & {
    store: WritableStore
    turnEnd(): Promise<void>
    /** Removes the counters of a deleted key. Never rejects. */
    forgetLimits(scope: AccountName): Promise<void>
    /** The ref of an account for a key, which is stored by then. Throws `INVALID_REQUEST` if there can't be one. */
    resolveAccount(idOrRef: string): Promise<string>
    /** The ref of an account that is named by its id or its ref. */
    findAccountRef(idOrRef: string): Promise<string>
  },
): KeyOperations<unknown> {
  const { store, clock, turnEnd, forgetLimits, resolveAccount, findAccountRef } = deps
  const { find, remember, forget } = createKeyFinder(store.keys)
  const inTurn = createMutex() // concurrent calls for one name create one key

  /** Doesn't throw for a key that can't be decrypted or was changed elsewhere, so that the others can be listed. */
  async function showKey({ digest, record }: FoundKey): Promise<ShownKey> {
    const opening = record.sha256 === undefined ? decryptKey(await store.keyring(), record) : ''
    const [key, isProven] = await Promise.all([opening, store.isSignedKey(digest, record)])
    const error = isProven ? (key === undefined ? UNREADABLE_KEY : undefined) : UNPROVEN_KEY
    const isActive = record.isActive !== false
    return {
      ...pickShownFields(keyFields, { ...record, key: key ?? '', isActive }),
      ...(error !== undefined && { error }),
    }
  }

  const showWithWarnings = async (found: FoundKey): Promise<{ key: ShownKey } & Warned> =>
    withWarnings({ key: await showKey(found) }, await keyWarnings(found.record, deps))

  /** Runs work that adds a key to this group, and blocks the group's deletion until it is done. Throws `INVALID_REQUEST` if there is no such group. */
  function inGroup<T>(group: string | null | undefined, work: () => Promise<T>): Promise<T> {
    if (typeof group !== 'string') return work()
    return store.runExclusive(GROUPS_TURN, async (ready) => {
      if (!(await store.groups.get(group)))
        throw invalidInput(`"group" must be the ID of a group; no group has the ID "${group}"`)
      ready()
      return work()
    })
  }

  /** The input with the ref of its account. */
  async function withAccount<T extends Pick<KeyPut, 'account' | 'actsFor' | 'group'>>(given: T): Promise<T> {
    if (given.account === undefined) return given
    if (typeof given.group === 'string') throw invalidInput(GROUP_OR_ACCOUNT)
    if (given.actsFor) throw invalidInput(ONE_ACCOUNT)
    return { ...given, account: await resolveAccount(given.account) }
  }

  function list(): Promise<{ keys: ShownKey[] }>
  function list(query: KeysQuery & HintView): Promise<{ keys: HintedKey[]; after?: string }>
  function list(query: unknown): Promise<{ keys: (ShownKey | HintedKey)[]; after?: string }>
  async function list(query: unknown = {}) {
    const { values, ...asked } = parseInput(keyInputs.list, query)
    const isHidden = values === 'none' || (!values && (await store.settings.read()).showKeyValues === false)
    if (asked.account !== undefined) asked.account = await findAccountRef(asked.account)
    const entries = [...(await store.keys.entries())] // changes mutate the list
    const { page, ...next } = await findPage(entries, asked, { now: clock.now(), turnEnd })
    const keys: (ShownKey | HintedKey)[] = []
    for (let at = 0; at < page.length; at += BATCH) {
      const batch = await Promise.all(
        page.slice(at, at + BATCH).map(({ id, record }) => showKey({ digest: id, record })),
      )
      keys.push(...(isHidden ? batch.map(hideValue) : batch))
      await turnEnd()
    }
    return { keys, ...next }
  }

  function get(id: string): Promise<{ key: ShownKey }>
  function get(id: string, view: HintView): Promise<{ key: HintedKey }>
  function get(id: string, view: unknown): Promise<{ key: ShownKey | HintedKey }>
  async function get(id: string, view: unknown = {}) {
    const { values } = parseInput(keyInputs.get, view)
    const key = await showKey(await find(id))
    return { key: values === 'none' ? hideValue(key) : key }
  }

  /**
   * Encrypts a value and stores the record under its digest. Resolves to the digest, or to `undefined` if it is taken. `order`: the position in
   * the list; default: the last.
   */
  async function insert(
    key: string,
    { sha256, ...record }: Omit<KeyRecord, 'sealedKey'>,
    order?: number,
  ): Promise<string | undefined> {
    const keyring = await store.keyring()
    const sealedKey = await keyring.encrypt(getKeyContext(record.id), key)
    const digest = await keyring.digest(key)
    if (!(await store.keys.insert(digest, { ...record, sealedKey }, order))) return undefined
    remember(record.id, digest)
    return digest
  }

  /** A copy, because changes mutate the list. */
  const formerKeys = async () => [...(await store.formerKeys.entries({ fresh: true }))]

  /** Stores until when a replaced value works. Without an end, it and all earlier values of the key stop working. */
  async function keepFormer(id: string, { from, to, until }: { from: string; to: string; until: number | undefined }) {
    for (const { id: digest, record } of await formerKeys()) {
      const isOver = Date.parse(record.until) <= clock.now() || (record.id === id && until === undefined)
      if (isOver) await store.formerKeys.remove(digest)
      else if (record.id === id) await store.formerKeys.update(digest, (former) => ({ ...former, to }))
    }
    if (until !== undefined) await store.formerKeys.insert(from, { id, to, until: new Date(until).toISOString() })
  }

  async function removeFormer(id: string) {
    for (const { id: digest, record } of await formerKeys()) if (record.id === id) await store.formerKeys.remove(digest)
  }

  /** Removes the old record of a key with a new value, and keeps changes that others have made in the meantime. */
  async function move(record: KeyRecord, { from, to }: { from: string; to: string }): Promise<FoundKey> {
    for (let moved = record; ; ) {
      if (await store.keys.remove(from, (current) => isSameJson(current, moved))) break
      const current = await store.keys.get(from)
      if (!current) {
        await store.keys.remove(to) // the key has been deleted
        throw gatewayError('NOT_FOUND', { message: 'Key not found' })
      }
      moved = current
      const { sha256: _, sealedKey: __, ...fields } = current
      await store.keys.update(to, ({ sealedKey }) => ({ ...fields, sealedKey }))
    }
    return { digest: to, record: present(await store.keys.get(to), 'Key') }
  }

  /** Finds the key that a `put` changes: by id, or without an id by name. If several keys have the name, the oldest wins. */
  async function findPut(id: string | undefined, name: string): Promise<FoundKey | undefined> {
    const entries = await store.keys.entries({ fresh: true })
    const entry = entries.find(({ record }) => (id === undefined ? record.name === name : record.id === id))
    return entry && { digest: entry.id, record: entry.record }
  }

  /** Creates a key. Resolves to its digest, or to `false` if another process has just created the same key. */
  async function add(
    id: string | undefined,
    key = mintClientKey(),
    { isActive = true, ...given }: Omit<KeyPut, 'id' | 'key'>,
  ) {
    const plain = { id: id ?? crypto.randomUUID(), name: given.name, isActive, createdAt: timestamp(clock) }
    const digest = await insert(key, applyChange(plain, { ...given, isActive }))
    if (digest !== undefined) return digest
    if (await findPut(id, given.name)) return false
    throw createTakenError()
  }

  /** Changes a key, unless nothing would change. Resolves to its digest. */
  async function change({ digest, record }: FoundKey, key: string | undefined, given: Partial<KeyPut>) {
    const isProven = await store.isSignedKey(digest, record)
    if (!isProven && given.isActive === undefined) throw invalidInput(UNPROVEN_KEY)
    const next = checkOwner(withChange(record, given))
    const other = key === undefined ? digest : await (await store.keyring()).digest(key)
    if (key !== undefined && other !== digest) {
      const isOwn = (await insert(key, applyChange(record, given))) ?? (await store.keys.get(other))?.id === record.id // from a call that was interrupted
      if (!isOwn) throw createTakenError()
      await store.keys.remove(digest)
    } else if (!isProven || !isSameJson(record, next)) {
      await store.keys.update(digest, (current) => applyChange(current, given))
    }
    return other
  }

  return {
    list,
    get,

    async create(input) {
      const key = mintClientKey()
      const { name, ...more } = await withAccount(parseInput(keyInputs.create, input))
      const record = { id: crypto.randomUUID(), name, isActive: true, createdAt: timestamp(clock), ...more }
      const digest = await inGroup(more.group, () => insert(key, record))
      if (digest === undefined) throw gatewayError('INTERNAL') // 256 random bits were drawn twice
      return withWarnings(createdKey({ ...record, key }), await keyWarnings(record, deps))
    },

    async update(id, input) {
      const change = parseInput(keyInputs.update, input)
      if (Object.keys(change).length === 0) throw invalidInput('Send "isActive" or "name".')
      const { digest } = await find(id)
      const changing = () =>
        store.keys.update(digest, async (current) => {
          if (change.isActive === undefined && !(await store.isSignedKey(digest, current)))
            throw invalidInput(UNPROVEN_KEY)
          return checkOwner(applyChange(current, change))
        })
      return showWithWarnings({ digest, record: present(await inGroup(change.group, changing), 'Key') })
    },

    async put(input) {
      const { id, key, ...given } = await withAccount(parsePut(keyInputs.put, input))
      /** Without a value of the app's own, several gateways could create the same key. */
      const addAlone = () =>
        store.runExclusive('keys', async (ready) => {
          const found = await findPut(id, given.name) // another gateway may have created it
          ready()
          return found ? change(found, key, given) : add(id, key, given)
        })
      return inTurn(async () => {
        const digest = await retryLostRace(async () => {
          const found = await findPut(id, given.name)
          const newGroup = found?.record.group === given.group ? undefined : given.group
          return inGroup(newGroup, async () => {
            if (found) return change(found, key, given)
            return key === undefined ? addAlone() : add(id, key, given)
          })
        })
        return showWithWarnings({ digest, record: present(await store.keys.get(digest), 'Key') })
      })
    },

    rotate: (id, input = {}) =>
      inTurn(async () => {
        const { graceMs = 0 } = parseInput(keyInputs.rotate, input)
        const value = mintClientKey()
        const record = await store.runExclusive('keys', async (ready) => {
          const { digest: from } = await find(id)
          const before = present(await store.keys.get(from), 'Key')
          if (!(await store.isSignedKey(from, before))) throw invalidInput(UNPROVEN_KEY)
          ready()
          const place = (await store.keys.entries()).find((entry) => entry.id === from)?.order
          const to = await insert(value, before, place)
          if (to === undefined) throw gatewayError('INTERNAL') // 256 random bits were drawn twice
          await keepFormer(id, { from, to, until: graceMs === 0 ? undefined : clock.now() + graceMs })
          return move(before, { from, to })
        })
        return withWarnings(createdKey(await showKey(record)), await keyWarnings(record.record, deps))
      }),

    async delete(id) {
      const { digest } = await find(id)
      const removed = await store.keys.remove(digest)
      forget(id)
      present(removed, 'Key')
      await removeFormer(id)
      await forgetLimits({ scope: 'key', id })
      return { success: true }
    },
  }
}

const applyChange = <T extends object, C extends Partial<KeyPut>>(record: T, given: C) => ({
  ...withChange(record, given),
  ...(given.isActive !== undefined && { edit: newEdit() }),
})

function checkOwner<T extends { group?: string; account?: string; actsFor?: object }>(record: T): T {
  if (record.group !== undefined && record.account !== undefined) throw invalidInput(GROUP_OR_ACCOUNT)
  if (record.actsFor !== undefined && record.account !== undefined) throw invalidInput(ONE_ACCOUNT)
  return record
}

const GROUP_OR_ACCOUNT = 'A key cannot have both a "group" and an "account". The plan of the account is its group'
const ONE_ACCOUNT = 'A key with an "account" cannot have "actsFor", since it only acts for that account'
const UNPROVEN_KEY = `This record was not written by a gateway with this secret, so the key is rejected. ${CONFIRM_KEY}`
const createTakenError = () => invalidInput('"key" must not be the value of another key')

/** Keys to decrypt before requests get a turn; takes a fraction of a millisecond. */
const BATCH = 32

/** A key and its digest. */
interface FoundKey {
  digest: string
  record: KeyRecord
}

/** Finds keys by id. Remembers their digests, because searching many keys is slow. */
interface KeyFinder {
  /** Throws `NOT_FOUND`. */
  find(id: string): Promise<FoundKey>
  /** After a key was created. */
  remember(id: string, digest: string): void
  /** After a key was deleted. */
  forget(id: string): void
}

function createKeyFinder(keys: Records<KeyRecord>): KeyFinder {
  let digests = new Map<string, string>()

  return {
    async find(id) {
      const digest = digests.get(id)
      const record = digest === undefined ? undefined : await keys.get(digest)
      if (digest !== undefined && record?.id === id) return { digest, record }
      const found = await findRecord(keys, 'Key', (one) => one.id === id)
      digests = new Map((await keys.entries()).map((entry) => [entry.record.id, entry.id]))
      return { digest: found.id, record: found.record }
    },

    remember: (id, digest) => void digests.set(id, digest),
    forget: (id) => void digests.delete(id),
  }
}
