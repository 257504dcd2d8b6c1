import * as v from 'valibot'
import { gatewayError } from '../errors.ts'
import { mintClientKey } from '../store/client-key.ts'
import { CONFIRM_KEY } from '../store/keyring.ts'
import { openKey, UNREADABLE_KEY } from '../store/open-key.ts'
import { placeOfKey } from '../store/proofs.ts'
import type { Store } from '../store/store.ts'
import type { ApiKey, Clock } from '../types.ts'
import { fields } from './fields.ts'
import { present } from './find.ts'
import { closed, invalidInput, parseInput } from './input.ts'
import { createKeyFinder, type FoundKey } from './key-finder.ts'
import { timestamp } from './time.ts'

/** API keys (spec.md, API keys). `Input` is accepted besides the typed input: nothing in process, `unknown` for bodies over HTTP. */
export interface KeyOperations<Input = never> {
  list(): Promise<{ keys: ShownKey[] }>
  get(id: string): Promise<{ key: ShownKey }>
  /** Resolves to the value of the key as `key`. `name` must not be blank. */
  create(input: { name: string } | Input): Promise<{ key: string; id: string; name: string; createdAt: string }>
  /** Renames, pauses or resumes; takes effect with the next request. */
  update(id: string, input: { name?: string; isActive?: boolean } | Input): Promise<{ key: ShownKey }>
  delete(id: string): Promise<{ success: true }>
}

/** An API key as the management API shows it. */
export interface ShownKey extends ApiKey {
  /** Why `key` is empty, its value cannot be decrypted, or why it is refused, its record was changed elsewhere. Absent when it is good. */
  error?: string
}

const newKey = closed({ name: fields.name })
const keyChange = closed({ name: v.exactOptional(fields.name), isActive: v.exactOptional(fields.flag) })

export function createKeyOperations(deps: {
  store: Store
  clock: Clock
  turnEnd(): Promise<void>
}): KeyOperations<unknown> {
  const { store, clock, turnEnd } = deps
  const { find, remember, forget } = createKeyFinder(store.keys)

  /** One that cannot be opened, or was changed elsewhere, must not hide the other keys. */
  async function shown({ digest, record }: FoundKey): Promise<ShownKey> {
    const { id, name, isActive, createdAt } = record
    const [key, isProven] = await Promise.all([openKey(await store.vault(), record), store.isProvenKey(digest, record)])
    const rest = { isActive: isActive !== false, createdAt }
    if (!isProven) return { id, name, key: key ?? '', ...rest, error: UNPROVEN_KEY }
    return key === undefined ? { id, name, key: '', ...rest, error: UNREADABLE_KEY } : { id, name, key, ...rest }
  }

  async function list() {
    const entries = await store.keys.entries()
    const keys: ShownKey[] = []
    for (let at = 0; at < entries.length; at += BATCH) {
      const batch = entries.slice(at, at + BATCH)
      keys.push(...(await Promise.all(batch.map(({ id, record }) => shown({ digest: id, record })))))
      await turnEnd()
    }
    return { keys }
  }

  return {
    list,

    get: async (id) => ({ key: await shown(await find(id)) }),

    async create(input) {
      const { name } = parseInput(newKey, input)
      const vault = await store.vault()
      const id = crypto.randomUUID()
      const key = mintClientKey()
      const createdAt = timestamp(clock)
      const sealedKey = await vault.seal(placeOfKey(id), key)
      const digest = await vault.digest(key)
      const isNew = await store.keys.insert(digest, { id, name, sealedKey, isActive: true, createdAt })
      if (!isNew) throw gatewayError('INTERNAL') // 256 random bits were drawn twice
      remember(id, digest)
      return { key, id, name, createdAt }
    },

    async update(id, input) {
      const change = parseInput(keyChange, input)
      if (Object.keys(change).length === 0) throw invalidInput('Send "isActive" or "name".')
      const { digest } = await find(id)
      const changed = await store.keys
        .update(digest, async (current) => {
          if (change.isActive === undefined && !(await store.isProvenKey(digest, current)))
            throw invalidInput(UNPROVEN_KEY)
          return { ...current, ...change }
        })
        .finally(() => store.keyring.forget(digest))
      return { key: await shown({ digest, record: present(changed, 'Key') }) }
    },

    async delete(id) {
      const { digest } = await find(id)
      const removed = await store.keys.remove(digest).finally(() => store.keyring.forget(digest))
      forget(id)
      present(removed, 'Key')
      return { success: true }
    },
  }
}

const UNPROVEN_KEY = `This record was not written by a gateway with this secret, and the key is refused. ${CONFIRM_KEY}`

/** So many are opened in a fraction of a millisecond; then requests get their turn. */
const BATCH = 32
