import { VERSION } from '../lib/version.ts'
import type { SettingsStore } from '../store/settings.ts'
import type { WritableStore } from '../store/writable-store.ts'
import type { Clock, Storage } from '../types.ts'
import type { KeptUsage } from '../usage/kept/usage.ts'

/** Facts about a gateway: its version and runtime, its features on this storage, and its present load. It contains no secret. */
export interface GatewayInfo {
  version: string
  /** The runtime with its version, as far as that is known, such as `Node.js 24.3.0`. */
  runtime: string
  /** The path that it is mounted at; empty for the root. */
  basePath: string
  /** ISO 8601. */
  now: string
  /** When this instance got its first request or call, ISO 8601. */
  startedAt: string
  /** `atomic`: do limits hold across instances? `watches`: does it report the changes of other instances? */
  storage: { atomic: boolean; watches: boolean }
  features: {
    /** Are requests and their sums kept? */
    usage: boolean
    /** Is cloud mode on? */
    cloud: boolean
    dashboard: boolean
    /** How many observers there are. */
    observers: number
    /** The paths of their pages, such as `/metrics`. */
    pages: string[]
  }
  /** May the caller make changes? `false` with `readToken`. */
  mayWrite: boolean
  /** Must requests have a key? */
  requireApiKey: boolean
  counts: { keys: number; connections: number; combos: number }
  /** Model requests of this instance that are under way. */
  inFlight: number
}

/** What the gateway knows of itself. */
export interface OwnFacts {
  runtime: string
  basePath: string
  hasDashboard: boolean
  observers: number
  pages: readonly string[]
  /** Epoch ms. */
  startedAt(): number
  inFlight(): number
}

export function createInfo({
  own,
  store,
  clock,
  usage,
}: {
  own: OwnFacts
  store: WritableStore & { settings: Pick<SettingsStore, 'read'>; storage: Storage }
  clock: Clock
  usage: KeptUsage | undefined
}) {
  return async (): Promise<GatewayInfo> => {
    const [settings, keys, connections, combos] = await Promise.all([
      store.settings.read(),
      store.keys.entries(),
      store.connections.entries(),
      store.combos.entries(),
    ])
    const { storage } = store
    return {
      version: VERSION,
      runtime: own.runtime,
      basePath: own.basePath,
      now: new Date(clock.now()).toISOString(),
      startedAt: new Date(own.startedAt()).toISOString(),
      storage: { atomic: storage.atomic, watches: storage.watch !== undefined },
      features: {
        usage: usage !== undefined,
        cloud: settings.cloudEnabled,
        dashboard: own.hasDashboard,
        observers: own.observers,
        pages: [...own.pages],
      },
      mayWrite: true,
      requireApiKey: settings.requireApiKey,
      counts: { keys: keys.length, connections: connections.length, combos: combos.length },
      inFlight: own.inFlight(),
    }
  }
}
