import { isObject, tryParseJson } from '../../lib/json.ts'
import type { Clock, Storage } from '../../types.ts'
import { KEY_PREFIX } from './catalog-copies.ts'

interface RefreshScheduleDependencies {
  /** How often to refresh: `1d` (default), `12h`. */
  every: string | undefined
  storage: Storage
  clock: Clock
  random(): number
}

/** The time of the next refresh and the number of consecutive failures, shared by all instances. */
interface RefreshLease {
  nextAt: number
  failures: number
}

/** How long an instance reserves the refresh for itself, in ms. */
const LEASE_MS = 60_000
const FIRST_RETRY_MS = 5 * 60_000
const DAY_MS = 24 * 60 * 60_000
const LEASE_KEY = `${KEY_PREFIX}lease`

/** Decides when to refresh. A lease in storage ensures that one instance refreshes for all of them. */
export class RefreshSchedule {
  readonly #storage: Storage
  readonly #clock: Clock
  readonly #random: () => number
  readonly #periodMs: number
  #dueAt = 0
  /** The last lease that this instance saw, and when it first saw it. */
  #lastSeenLease: { version: string | undefined; seenAt: number } | undefined

  constructor({ every, storage, clock, random }: RefreshScheduleDependencies) {
    this.#storage = storage
    this.#clock = clock
    this.#random = random
    this.#periodMs = parsePeriod(every)
  }

  get isDue(): boolean {
    return this.#clock.now() >= this.#dueAt
  }

  /** Runs a refresh if one is due and no other instance is running it. `refresh` resolves to whether it succeeded. */
  async runIfDue(refresh: () => Promise<boolean>): Promise<void> {
    if (!this.isDue) return
    const storedLease = await this.#storage.get(LEASE_KEY)
    const lease = readLease(storedLease?.value)
    if (!this.#lastSeenLease || this.#lastSeenLease.version !== storedLease?.version)
      this.#lastSeenLease = { version: storedLease?.version, seenAt: this.#clock.now() }
    const latestAt = this.#lastSeenLease.seenAt + 1.05 * Math.max(this.#periodMs, DAY_MS)
    this.#dueAt = Math.min(lease.nextAt, latestAt) // the stored time may be based on a wrong clock or on a longer period
    if (!this.isDue) return
    const version = await this.#writeLease(
      { ...lease, nextAt: this.#clock.now() + LEASE_MS },
      storedLease?.version ?? null,
    )
    this.#dueAt = this.#clock.now() + LEASE_MS
    if (version === false) return
    const failures = (await refresh()) ? 0 : lease.failures + 1
    this.#dueAt = this.#clock.now() + this.#getWaitMs(failures)
    await this.#writeLease({ nextAt: this.#dueAt, failures }, version)
  }

  #getWaitMs(failures: number): number {
    if (failures > 0) return Math.min(DAY_MS, FIRST_RETRY_MS * 2 ** (failures - 1))
    return this.#periodMs * (0.95 + 0.1 * this.#random())
  }

  #writeLease(lease: RefreshLease, ifVersion: string | null): Promise<string | false> {
    return this.#storage.set(LEASE_KEY, JSON.stringify(lease), { ifVersion })
  }
}

function readLease(value: string | undefined): RefreshLease {
  const lease = value === undefined ? undefined : tryParseJson(value)
  const { nextAt, failures } = isObject(lease) ? lease : {}
  return { nextAt: typeof nextAt === 'number' ? nextAt : 0, failures: typeof failures === 'number' ? failures : 0 }
}

/** Converts a period such as `1d` or `12h` to ms. */
function parsePeriod(every = '1d'): number {
  const [, count, unit] = /^(\d+)([dh])$/.exec(every) ?? []
  return Number(count) * (unit === 'h' ? DAY_MS / 24 : DAY_MS)
}
