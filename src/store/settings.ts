import { gatewayError } from '../errors.ts'
import type { Awaitable } from '../lib/awaitable.ts'
import { isObject, tryParseJson } from '../lib/json.ts'
import type { Clock, Settings, Storage } from '../types.ts'
import { storageFailure } from './failure.ts'
import type { Freshness } from './freshness.ts'
import { retryLostRace } from './retry-lost-race.ts'

const KEY = 'settings'
const DEFAULTS: Settings = { cloudEnabled: false, requireApiKey: false, cloudUrl: '' }

/** The settings, with the defaults of spec.md. */
export interface SettingsStore {
  /** Rejects with `STORAGE_FAILED` when they cannot be read; model requests are refused then. */
  read(): Awaitable<Settings>
  /** Reads them from the storage even if they are in memory. Rejects with `STORAGE_FAILED`. */
  reread(): Promise<Settings>
  /** Merges `patch` into the stored settings, again when another writer was faster. */
  update(patch: Partial<Settings>): Promise<Settings>
}

/** Makes the settings of a storage, where they may be absent. */
export function createSettingsStore(deps: { storage: Storage; clock: Clock; freshness: Freshness }): SettingsStore {
  const { storage, clock, freshness } = deps
  let view: { settings: Settings; readAt: number } | undefined
  let epoch = 0

  freshness.onChange((key) => {
    if (key === KEY) forget()
  })

  function forget() {
    epoch++
    view = undefined
  }

  async function load() {
    const stored = await storage.get(KEY).catch((cause: unknown) => {
      throw storageFailure('read', KEY, cause)
    })
    return { version: stored?.version ?? null, settings: stored ? parse(stored.value) : DEFAULTS }
  }

  async function refresh() {
    const startedIn = epoch
    const readAt = clock.now()
    const { settings } = await load()
    if (startedIn === epoch) view = { settings, readAt }
    return settings
  }

  return {
    read: () => (view && freshness.isFresh(view.readAt) ? view.settings : refresh()),
    reread: refresh,

    update: (patch) =>
      retryLostRace(async () => {
        const { version, settings } = await load()
        const next = { ...settings, ...patch }
        const written = await storage.set(KEY, JSON.stringify(next), { ifVersion: version }).catch((cause: unknown) => {
          throw storageFailure('write', KEY, cause)
        })
        forget()
        return written !== false && next
      }),
  }
}

function parse(text: string): Settings {
  const record = tryParseJson(text)
  if (!isObject(record))
    throw gatewayError('STORAGE_FAILED', { message: 'The settings in the storage cannot be read.' })
  return {
    cloudEnabled: record.cloudEnabled === true,
    requireApiKey: record.requireApiKey === true,
    cloudUrl: typeof record.cloudUrl === 'string' ? record.cloudUrl : '',
  }
}
