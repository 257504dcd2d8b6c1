import { type GatewayError, gatewayError } from '../errors.ts'
import { evictOldest } from '../lib/maps.ts'
import type { Clock, KeyGroup } from '../types.ts'
import { type Cached, createCached, type Freshness } from './cached.ts'
import { GROUPS, type GroupRecord } from './collections.ts'
import type { Records } from './records.ts'
import type { Patience } from './storage-access.ts'
import { idOf } from './stored-records.ts'
import { isProvenGroup, type Vault } from './vault.ts'

/** The parts of the group of a client key that a request sees. */
export type PresentedGroup = Omit<KeyGroup, 'createdAt'>

interface GroupDependencies {
  records: Records<GroupRecord>
  vault(): Promise<Vault>
  freshness: Freshness
  patience: Patience
  clock: Clock
}

/**
 * Looks up the groups of client keys by their ids: one storage read for a group that was not seen before, none for others. A change made here
 * holds for the next request, one made elsewhere as soon as `freshness` reports it. While the storage is away, a group that was read stays.
 */
export class KnownGroups {
  readonly #deps: GroupDependencies
  readonly #known = new Map<string, Cached<PresentedGroup | undefined>>()
  readonly #listeners: Array<(id: string) => void> = []

  constructor(deps: GroupDependencies) {
    this.#deps = deps
    deps.freshness.onChange((key) => {
      const id = key.startsWith(GROUPS) ? idOf(key.slice(GROUPS.length)) : undefined
      if (id !== undefined) this.mayHaveChanged(id)
    })
    deps.freshness.onGap(() => {
      for (const id of this.#known.keys()) this.mayHaveChanged(id)
    })
  }

  /**
   * The group; `undefined` when there is none that can be read. Rejects with `STORAGE_FAILED`, also when its record is not as a gateway wrote
   * it (vault.ts).
   */
  find(id: string): Promise<PresentedGroup | undefined> {
    return this.#cachedOf(id).current()
  }

  /** The same as the storage has it now. */
  async read(id: string): Promise<PresentedGroup | undefined> {
    const record = await this.#deps.records.get(id)
    if (record && !(await isProvenGroup(await this.#deps.vault(), id, record))) throw unproven(record)
    return record && presented(record)
  }

  /** Calls back with the id of each group that has changed, here or elsewhere. */
  onChange(listener: (id: string) => void): void {
    this.#listeners.push(listener)
  }

  /** The record of the group is this one now, also while the storage is away. */
  changed(id: string, record: GroupRecord): void {
    this.#known.get(id)?.replace(presented(record), true)
    this.#tell(id)
  }

  /** The group was made or deleted, or its record replaced by hand. */
  forget(id: string): void {
    this.#known.delete(id)
    this.#tell(id)
  }

  /** A change has failed, and may have been made all the same; or another writer has changed the group. */
  mayHaveChanged(id: string): void {
    this.#known.get(id)?.expire()
    this.#tell(id)
  }

  #tell(id: string): void {
    for (const listener of this.#listeners) listener(id)
  }

  #cachedOf(id: string): Cached<PresentedGroup | undefined> {
    const known = this.#known.get(id)
    if (known) return known
    const made = createCached(() => this.read(id), this.#deps)
    evictOldest(this.#known, MAX_KNOWN)
    this.#known.set(id, made)
    return made
  }
}

const MAX_KNOWN = 20_000

function presented({ createdAt, mac, ...group }: GroupRecord): PresentedGroup {
  return group
}

const unproven = ({ id, name }: GroupRecord) =>
  gatewayError('STORAGE_FAILED', {
    message: `The record of the group "${name}" was not written by a gateway with this secret. ${CONFIRM_GROUP}`,
    data: { group: id },
  })

/** How a group is made usable again whose record is not as a gateway wrote it. */
export const CONFIRM_GROUP = 'Pause, resume or delete it: PUT /api/groups/{id} with "isActive", or DELETE.'

/** The error of a key whose group is not there. */
export const withoutGroup = (key: { id: string; name: string }, group: string): GatewayError =>
  gatewayError('STORAGE_FAILED', {
    message: `The API key "${key.name}" belongs to the group "${group}", which does not exist. Give the key another one, or null: PUT /api/keys/{id} with "group".`,
    data: { key: key.id, group },
  })

/** The error of a key whose group is paused. */
export const pausedGroup = (): GatewayError =>
  gatewayError('KEY_PAUSED', { message: 'The group of this API key is paused. Resume it to use its keys again.' })
