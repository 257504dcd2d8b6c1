import type { UsageStore } from '../features/usage/usage.ts'
import { VERSION } from '../lib/version.ts'
import { isDefinedInCode } from '../records/defined-in-code.ts'
import type { SettingsStore } from '../records/stored-settings.ts'
import type { WritableStore } from '../records/writable-store.ts'
import type { Integer, IsoTime } from '../types/plain-types.ts'
import type { Clock, Storage } from '../types.ts'

/** Facts about a gateway: its version and runtime, the features available with its storage, and its current load, without secrets. */
export interface GatewayInfo {
  version: string
  /** The runtime and its version, if known, such as `Node.js 24.3.0`. */
  runtime: string
  /** The path that the gateway is mounted at. Empty for the root. */
  basePath: string
  /** The current time, in ISO 8601. */
  now: IsoTime
  /** When this instance received its first request or call, in ISO 8601. */
  startedAt: IsoTime
  /** `atomic`: whether limits are exact across instances. `watches`: whether the storage reports other instances' changes. */
  storage: { atomic: boolean; watches: boolean }
  features: {
    /** Whether request records and totals are stored. */
    usage: boolean
    /** Whether cloud sync is on. */
    cloud: boolean
    dashboard: boolean
    /** Number of observers. */
    observers: Integer
    /** Paths of the observers' pages, such as `/metrics`. */
    pages: string[]
  }
  /** Whether the caller may make changes; `false` with `readToken`. */
  canWrite: boolean
  /** Whether requests need a key. */
  requireApiKey: boolean
  counts: { keys: Integer; connections: Integer; combos: Integer }
  /** Names of the settings and aliases that are defined in code and can't be changed through the API. Other records have `source: 'code'`. */
  definedInCode: { settings: string[]; aliases: string[] }
  /** This instance's in-flight model requests. */
  inFlight: Integer
}

/** Facts about the gateway itself. */
export interface InfoSources {
  runtime: string
  basePath: string
  hasDashboard: boolean
  observers: number
  pages: readonly string[]
  /** Epoch ms. */
  getStartTime(): number
  countInFlight(): number
}

export function createInfoReader({
  infoSources,
  store,
  clock,
  usage,
}: {
  infoSources: InfoSources
  store: WritableStore & { settings: Pick<SettingsStore, 'read'>; storage: Storage }
  clock: Clock
  usage: UsageStore | undefined
}) {
  return async (): Promise<GatewayInfo> => {
    const [settings, keys, connections, combos, aliases] = await Promise.all([
      store.settings.read(),
      store.keys.entries(),
      store.connections.entries(),
      store.combos.entries(),
      store.aliases.all(),
    ])
    const { storage } = store
    return {
      version: VERSION,
      runtime: infoSources.runtime,
      basePath: infoSources.basePath,
      now: new Date(clock.now()).toISOString(),
      startedAt: new Date(infoSources.getStartTime()).toISOString(),
      storage: { atomic: storage.atomic, watches: storage.watch !== undefined },
      features: {
        usage: usage !== undefined,
        cloud: settings.cloudEnabled,
        dashboard: infoSources.hasDashboard,
        observers: infoSources.observers,
        pages: [...infoSources.pages],
      },
      canWrite: true,
      requireApiKey: settings.requireApiKey,
      counts: { keys: keys.length, connections: connections.length, combos: combos.length },
      definedInCode: {
        settings: Object.keys(store.code.records.settings),
        aliases: aliases.filter(isDefinedInCode).map(({ alias }) => alias),
      },
      inFlight: infoSources.countInFlight(),
    }
  }
}
