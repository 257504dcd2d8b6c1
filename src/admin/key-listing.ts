import * as v from 'valibot'
import type { StoredEntry } from '../records/stored-records.ts'
import { closedObject, createChoiceSchema, fields } from './input.ts'
import type { KeyView } from './keys.ts'

/** Whether keys include their values. */
export interface KeyValuesQuery {
  /**
   * With `none`, keys have a `hint` instead of the value. With `all`, they have the value. Default: `all`, except in lists if the setting
   * `showKeyValues` is `false`.
   */
  values?: 'all' | 'none'
}

/** Keys without their values. */
export interface KeyHintsQuery extends KeyValuesQuery {
  values: 'none'
}

/** Which keys to list, and how. Default: all. */
export interface KeysQuery extends KeyValuesQuery {
  /** Maximum keys per page, 1 to 1,000. Default: all. */
  limit?: number
  /** The `after` of the previous page. */
  after?: string
  /** Only keys whose name or ID contains this string; case-insensitive. */
  q?: string
  /** Only keys of the group with this ID. */
  group?: string
  /** Only keys of this account, by ID or ref. */
  account?: string
  /** Only active, paused, or expired keys. */
  state?: (typeof states)[number]
}

const states = ['active', 'paused', 'expired'] as const

/** A key without its value. */
export interface MaskedKey extends Omit<KeyView, 'key'> {
  /** The first six and the last two characters of the value, such as `sbx_ab…9f`. Empty if the value can't be read. */
  hint: string
}

const CURSOR_PATTERN = /^-?\d{1,20}(?:\.\d{1,20})?:/

const valuesSchema = v.exactOptional(createChoiceSchema(['all', 'none']))

export const keyViews = {
  list: closedObject({
    values: valuesSchema,
    limit: v.exactOptional(fields.pageSize),
    after: v.exactOptional(
      v.pipe(fields.text, v.regex(CURSOR_PATTERN, 'must be the "after" value of a previous page')),
    ),
    q: v.exactOptional(fields.filter),
    group: v.exactOptional(fields.filter),
    account: v.exactOptional(fields.filter),
    state: v.exactOptional(createChoiceSchema(states)),
  }),
  get: closedObject({ values: valuesSchema }),
}

/** Returns the key without its value. */
export function hideValue({ key, ...otherFields }: KeyView): MaskedKey {
  return { ...otherFields, hint: key === '' ? '' : `${key.slice(0, 6)}…${key.slice(-2)}` }
}

/** Keys to compare before yielding to other requests; a batch takes a fraction of a millisecond. */
const BATCH_SIZE = 1_000

/** Finds a page of the keys that match the query, and the `after` of the next page, if any. */
export async function findPage<T extends FilteredKey>(
  entries: ReadonlyArray<StoredEntry<T>>,
  { q = '', after, limit = Number.POSITIVE_INFINITY, group, account, state }: KeysQuery,
  { now, nextTurn }: { now: number; nextTurn: () => Promise<void> },
): Promise<{ page: StoredEntry<T>[]; after?: string }> {
  const searchText = q.toLowerCase()
  const matchesQuery = (key: T) =>
    (key.name.toLowerCase().includes(searchText) || key.id.toLowerCase().includes(searchText)) &&
    (group === undefined || key.group === group) &&
    (account === undefined || key.account === account) &&
    (state === undefined || getState(key, now) === state)
  const page: StoredEntry<T>[] = []
  for (let index = after === undefined ? 0 : findStartIndex(entries, after); index < entries.length; index++) {
    const entry = entries[index]
    if (!entry) break
    if (matchesQuery(entry.record)) {
      const lastEntry = page.at(-1)
      if (lastEntry && page.length >= limit) return { page, after: `${lastEntry.order}:${lastEntry.record.id}` }
      page.push(entry)
    }
    if (index % BATCH_SIZE === BATCH_SIZE - 1) await nextTurn()
  }
  return { page }
}

/** The fields that queries filter by. */
interface FilteredKey {
  id: string
  name: string
  isActive?: boolean
  expiresAt?: string
  group?: string
  account?: string
}

function getState({ isActive, expiresAt }: FilteredKey, now: number): KeysQuery['state'] {
  if (isActive === false) return 'paused'
  return expiresAt !== undefined && Date.parse(expiresAt) <= now ? 'expired' : 'active'
}

/** Returns the index of the first key after a page, even if the last key of the page has been deleted. */
function findStartIndex(entries: ReadonlyArray<StoredEntry<{ id: string }>>, after: string): number {
  const separatorIndex = after.indexOf(':')
  const order = Number(after.slice(0, separatorIndex))
  const id = after.slice(separatorIndex + 1)
  const lastIndex = entries.findIndex((entry) => entry.record.id === id)
  if (lastIndex >= 0) return lastIndex + 1
  const nextIndex = entries.findIndex((entry) => entry.order > order)
  return nextIndex >= 0 ? nextIndex : entries.length
}
