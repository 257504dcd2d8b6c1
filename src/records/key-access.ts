import { KeyCache } from './key-cache.ts'
import { KeyLookup, type KeyLookupDependencies } from './key-lookup.ts'
import { createGroupCache, type GroupCache, type GroupCacheDependencies } from './known-groups.ts'
import type { GroupRecord } from './record-collections.ts'
import type { Records } from './records.ts'

/** Client keys and their groups, as requests use them. */
export interface KeyAccess {
  lookup: KeyLookup
  /** The cache of keys, which is notified of this gateway's changes. */
  cache: KeyCache
  /** The groups of keys, cached for requests. */
  groups: GroupCache
}

interface KeyAccessDependencies
  extends Omit<KeyLookupDependencies, 'cache' | 'groups'>,
    Omit<GroupCacheDependencies, 'records'> {
  groups: Records<GroupRecord>
}

/** Creates key access, which a gateway loads on the first request with a credential. */
export function createKeyAccess({ groups: records, ...dependencies }: KeyAccessDependencies): KeyAccess {
  const groups = createGroupCache({ ...dependencies, records })
  const cache = new KeyCache(dependencies.freshness, dependencies.clock)
  return { lookup: new KeyLookup({ ...dependencies, groups, cache }), cache, groups }
}
