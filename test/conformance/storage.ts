import type { Storage } from '../../src/index.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { suite } from '../support/suite.ts'
import { storageCounters } from './storage/counters.ts'
import { storageExpiry } from './storage/expiry.ts'
import { storageLifetime } from './storage/lifetime.ts'
import { storageLinked } from './storage/linked.ts'
import { storageListing } from './storage/listing.ts'
import { storageRaces } from './storage/races.ts'
import { storageValues } from './storage/values.ts'
import { storageVersions } from './storage/versions.ts'
import { storageWatching } from './storage/watching.ts'

/** A store under test. */
export interface StorageSubject {
  storage: Storage
  /** Opens the same data again, as another process would. Omitted if that isn't possible. */
  reopen?(): Promise<Storage> | Storage
  /** Advances time by `ms` for `ttlMs`. Default: advance the fake clock. */
  passTime?(ms: number): Promise<void>
  /** Removes the data after `storage` and all reopened stores are closed. */
  destroy?(): Promise<void>
}

export interface StorageConformance {
  /** Creates an empty store for each test. */
  create(options: { clock: FakeClock }): Promise<StorageSubject> | StorageSubject
  /** The features that the adapter claims. The suite checks that it has exactly these. Default: all but `getLinked`. */
  atomic?: boolean
  has?: ReadonlyArray<'increment' | 'watch' | 'ownSecret' | 'getLinked'>
}

/** The context of a test: a store, and functions that inspect it from another process or at a later time. */
export interface Bench {
  storage: Storage
  /** Opens the same data again, or returns the same store if it can't be reopened. */
  other(): Promise<Storage>
  passTime(ms: number): Promise<void>
}

export type StorageTest = (name: string, body: (bench: Bench) => Promise<void>) => void

/** Checks the entire `Storage` contract. Every adapter must pass it unchanged. */
export function storageConformance(name: string, options: StorageConformance): void {
  const register = suite(`${name} storage`)
  storageTests((title, body) => register(title, () => withBench(options, body)), options)
}

/** Declares the tests for an adapter with these claims. */
export function storageTests(test: StorageTest, claims: Pick<StorageConformance, 'atomic' | 'has'>): void {
  const { atomic = true, has = ['increment', 'watch', 'ownSecret'] } = claims
  storageValues(test)
  storageVersions(test)
  storageListing(test)
  storageExpiry(test)
  storageLifetime(test, { atomic, has })
  if (atomic) storageRaces(test)
  if (has.includes('increment')) storageCounters(test)
  if (has.includes('watch')) storageWatching(test)
  if (has.includes('getLinked')) storageLinked(test)
}

async function withBench(options: StorageConformance, body: (bench: Bench) => Promise<void>): Promise<void> {
  const clock = fakeClock()
  const subject = await options.create({ clock })
  const opened = [subject.storage]
  try {
    await body({
      storage: subject.storage,
      async other() {
        const storage = (await subject.reopen?.()) ?? subject.storage
        opened.push(storage)
        return storage
      },
      passTime: (ms) => (subject.passTime ? subject.passTime(ms) : clock.advance(ms)),
    })
  } finally {
    for (const storage of opened) await storage.close?.()
    await subject.destroy?.()
  }
}
