import { gatewayError } from '../errors.ts'
import type { Awaitable } from '../lib/awaitable.ts'
import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import type { Clock, RequestRules, Settings, Storage } from '../types.ts'
import { failedTo } from './away.ts'
import { createCached } from './cached.ts'
import { SETTINGS } from './collections.ts'
import type { Freshness } from './freshness.ts'
import { areProvenSettings, proofOfSettings } from './proofs.ts'
import { retryLostRace } from './retry-lost-race.ts'
import { storedRules } from './stored-rules.ts'
import type { Vault } from './vault.ts'

/** The settings as they are stored: of the rules for requests only those that are set. */
export interface StoredSettings extends Omit<Settings, keyof RequestRules> {
  rules?: RequestRules | undefined
}

/** The settings, with the defaults of spec.md. */
export interface SettingsStore {
  /**
   * Rejects with `STORAGE_FAILED` when they cannot be read, or are not as a gateway wrote them (proofs.ts); model requests are refused then.
   */
  read(): Awaitable<StoredSettings>
  /** Reads them from the storage even if they are in memory. Rejects as `read` does. */
  reread(): Promise<StoredSettings>
  /**
   * Merges the patch for the stored settings into them, again when another writer was faster. Settings that are not as a gateway wrote them
   * are replaced by the defaults and the patch, which must name `requireApiKey` then: rejects with `STORAGE_FAILED` otherwise.
   */
  update(patchFor: (stored: StoredSettings) => Partial<StoredSettings>): Promise<StoredSettings>
}

/** Makes the settings of a storage. */
export function createSettingsStore(deps: {
  storage: Storage
  clock: Clock
  freshness: Freshness
  vault(): Promise<Vault>
}): SettingsStore {
  const { storage, freshness, vault } = deps
  /** The stored members; `undefined` when they are not as a gateway wrote them. */
  async function load() {
    const opened = await vault() // which has taken over what a release before wrote
    const stored = await storage.get(SETTINGS).catch(failedTo('read', SETTINGS))
    const members = stored && parse(stored.value)
    const isProven = members && (await areProvenSettings(opened, settingsIn(members), members.mac))
    return { version: stored?.version ?? null, members: isProven ? members : undefined }
  }

  const cached = createCached(async () => {
    const { members } = await load()
    if (!members) throw changedElsewhere()
    return settingsIn(members)
  }, deps)

  freshness.onChange((key) => {
    if (key === SETTINGS) cached.expire()
  })
  freshness.onGap(cached.expire)

  return {
    read: cached.current,
    reread: cached.reread,

    update: (patchFor) =>
      retryLostRace(async () => {
        const { version, members } = await load()
        const stored = settingsIn(members ?? {})
        const patch = patchFor(stored)
        if (!members && patch.requireApiKey === undefined) throw changedElsewhere()
        const { rules, ...next } = { ...members, ...stored, ...patch }
        const value = JSON.stringify({
          ...next,
          ...NO_RULES,
          ...rules,
          mac: await proofOfSettings(await vault(), next),
        })
        const written = await storage.set(SETTINGS, value, { ifVersion: version }).catch(failedTo('write', SETTINGS))
        cached.drop()
        return written !== false && { ...stored, ...patch }
      }),
  }
}

/** The text of settings with their proof, the defaults where there are none; `undefined` when they have it, or cannot be read. */
export async function takenOverSettings(vault: Vault, text: string | undefined): Promise<string | undefined> {
  const members = text === undefined ? {} : parse(text)
  if (!members || (await areProvenSettings(vault, settingsIn(members), members.mac))) return undefined
  return JSON.stringify({ ...members, mac: await proofOfSettings(vault, settingsIn(members)) })
}

function parse(text: string): JsonObject | undefined {
  const members = tryParseJson(text)
  return isObject(members) ? members : undefined
}

/** Keys are required unless it says that they are not: what is neither must not open the gate (design.md). */
const settingsIn = ({ cloudEnabled, requireApiKey, cloudUrl, ...more }: JsonObject): StoredSettings => ({
  cloudEnabled: cloudEnabled === true,
  requireApiKey: requireApiKey !== undefined && requireApiKey !== false,
  cloudUrl: typeof cloudUrl === 'string' ? cloudUrl : '',
  rules: storedRules(more),
})

/** The members of the storage that hold the rules. */
const NO_RULES = { health: undefined, maxAttempts: undefined, timeouts: undefined }

const changedElsewhere = () =>
  gatewayError('STORAGE_FAILED', {
    message:
      'The settings in the storage are missing, damaged, or were not written by a gateway with this secret. Set them again: PATCH /api/settings with "requireApiKey".',
  })
