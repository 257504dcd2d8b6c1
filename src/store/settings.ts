import { gatewayError } from '../errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import type { Clock, RequestRules, Settings, Storage } from '../types.ts'
import type { Freshness } from './cached.ts'
import { createCached } from './cached.ts'
import { SETTINGS } from './collections.ts'
import { problemsOfSettings, storedRules } from './readings.ts'
import { failedTo, type Patience, retryLostRace } from './storage-access.ts'
import type { DamageLog } from './stored-records.ts'
import type { Vault } from './vault.ts'
import { areProvenSettings, proofOfSettings } from './vault.ts'

/** The settings as they are stored: of the rules for requests only those that are set. */
export interface StoredSettings extends Omit<Settings, keyof RequestRules> {
  rules?: RequestRules | undefined
  /** Of the last call that set `requireApiKey`: another one for each. */
  edit?: string
}

/** The settings, with the defaults of spec.md. */
export interface SettingsStore {
  /**
   * Those that are not as a gateway wrote them (vault.ts) are read as requiring a key, with cloud mode off. Rejects with `STORAGE_FAILED`
   * when they are missing in a storage that has had some, or cannot be read; model requests are refused then.
   */
  read(): Promise<StoredSettings>
  /** Could cloud mode be on? Reads one record at most, and opens no vault: `read` decides. Rejects as `read` does. */
  mayMirror(): Promise<boolean>
  /** Reads them from the storage even if they are in memory. Rejects as `read` does. */
  reread(): Promise<StoredSettings>
  /**
   * Merges the patch for the stored settings into them, again when another writer was faster. Settings that are not as a gateway wrote them
   * are replaced by their reading and the patch, which must name `requireApiKey` then: rejects with `STORAGE_FAILED` otherwise.
   */
  update(patchFor: (stored: StoredSettings) => Partial<StoredSettings>): Promise<StoredSettings>
}

/** Makes the settings of a storage. */
export function createSettingsStore(deps: {
  storage: Storage
  clock: Clock
  freshness: Freshness
  patience: Patience
  damage: DamageLog
  vault(): Promise<Vault>
}): SettingsStore {
  const { storage, freshness, damage, vault } = deps
  /** The stored members, `undefined` when there are none that can be read; and whether they are as a gateway wrote them. */
  async function load() {
    const opened = await vault() // which has taken over what a release before wrote
    const stored = await storage.get(SETTINGS).catch(failedTo('read', SETTINGS))
    const members = stored && parse(stored.value)
    const isProven = members !== undefined && (await areProvenSettings(opened, settingsIn(members), members.mac))
    return { version: stored?.version ?? null, members, isProven }
  }

  const cached = createCached(async () => {
    const { members, isProven } = await load()
    if (!members) throw changedElsewhere()
    const problems = isProven ? problemsOfSettings(members) : [UNPROVEN]
    damage.saw(SETTINGS, problems.length > 0 ? problems.join('; ') : undefined)
    return isProven ? settingsIn(members) : shut(members)
  }, deps)

  const glance = createCached(async () => {
    const stored = await storage.get(SETTINGS).catch(failedTo('read', SETTINGS))
    return stored !== undefined && parse(stored.value)?.cloudEnabled === true
  }, deps)

  function expire() {
    cached.expire()
    glance.expire()
  }

  freshness.onChange((key) => {
    if (key === SETTINGS) expire()
  })
  freshness.onGap(expire)

  return {
    read: cached.current,
    reread: cached.reread,

    mayMirror: glance.current,

    update: (patchFor) =>
      retryLostRace(async () => {
        const { version, members, isProven } = await load()
        const kept = isProven ? members : undefined
        const stored = kept ? settingsIn(kept) : shut(members ?? {})
        const patch = patchFor(stored)
        if (!kept && patch.requireApiKey === undefined) throw changedElsewhere()
        const { rules, ...next } = { ...kept, ...stored, ...patch }
        const value = JSON.stringify({
          ...next,
          ...NO_RULES,
          ...rules,
          mac: await proofOfSettings(await vault(), next),
        })
        const writing = storage.set(SETTINGS, value, { ifVersion: version }).catch(failedTo('write', SETTINGS))
        if ((await writing.finally(expire)) === false) return false
        cached.replace(settingsIn(parse(value) ?? {}), true)
        return { ...stored, ...patch }
      }),
  }
}

/** The text of settings with their proof, the defaults where there are none; `undefined` when they have it, or cannot be read. */
export async function takenOverSettings(vault: Vault, text: string | undefined): Promise<string | undefined> {
  const members = text === undefined ? {} : parse(text)
  if (!members || (await areProvenSettings(vault, settingsIn(members), members.mac))) return undefined
  return JSON.stringify({ ...members, mac: await proofOfSettings(vault, settingsIn(members)) })
}

/** The text of settings that `former` proves with the proof of `vault`; `undefined` when it does not, or there are none. */
export async function resignedSettings(
  text: string | undefined,
  { former, vault }: { former: Vault; vault: Vault },
): Promise<string | undefined> {
  const members = text === undefined ? undefined : parse(text)
  if (!members || !(await areProvenSettings(former, settingsIn(members), members.mac))) return undefined
  return JSON.stringify({ ...members, mac: await proofOfSettings(vault, settingsIn(members)) })
}

function parse(text: string): JsonObject | undefined {
  const members = tryParseJson(text)
  return isObject(members) ? members : undefined
}

/** Keys are required unless `requireApiKey` is absent or `false`: a damaged value must not admit clients without a key (design.md). */
const settingsIn = ({ cloudEnabled, requireApiKey, cloudUrl, edit, ...more }: JsonObject): StoredSettings => ({
  cloudEnabled: cloudEnabled === true,
  requireApiKey: requireApiKey !== undefined && requireApiKey !== false,
  cloudUrl: typeof cloudUrl === 'string' ? cloudUrl : '',
  rules: storedRules(more),
  ...(typeof edit === 'string' && { edit }),
})

/** Settings that are not as a gateway wrote them: of what they say, the rules alone, which guard nothing. */
const shut = (members: JsonObject): StoredSettings => ({
  cloudEnabled: false,
  requireApiKey: true,
  cloudUrl: '',
  rules: storedRules(members),
})

/** The members of the storage that hold the rules. */
const NO_RULES = { health: undefined, maxAttempts: undefined, timeouts: undefined }

const SET_AGAIN = 'Set them again: PATCH /api/settings with "requireApiKey".'

const UNPROVEN = `was not written by a gateway with this secret, and is read as requiring a key, with cloud mode off. ${SET_AGAIN}`

const changedElsewhere = () =>
  gatewayError('STORAGE_FAILED', {
    message: `The settings in the storage are missing, damaged, or were not written by a gateway with this secret. ${SET_AGAIN}`,
  })
