import { gatewayError } from '../errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import type { RecordFields } from '../types/records/fields.ts'
import { ruleShapes } from '../types/records/rules.ts'
import { settingsFields } from '../types/records/settings.ts'
import type { Clock, RequestRules, Settings, Storage } from '../types.ts'
import type { Freshness } from './cached.ts'
import { createCached } from './cached.ts'
import { SETTINGS } from './collections.ts'
import { readSettings, storedRules } from './readings.ts'
import { failedTo, type Patience } from './storage-access.ts'
import type { DamageLog } from './stored-records.ts'
import type { Vault } from './vault.ts'
import { areProvenSettings, proofOfSettings } from './vault.ts'

/** The settings as they are stored: of the rules for requests only those that are set. */
export interface StoredSettings extends Omit<Settings, keyof RequestRules> {
  rules?: RequestRules | undefined
  /** Of the last call that set `requireApiKey`: another one for each. */
  edit?: string
}

/** The settings. Absent ones have their defaults: `false` and the empty text. */
export interface SettingsStore {
  /**
   * Those that are not as a gateway wrote them (vault.ts) are read as requiring a key, with cloud mode off. Rejects with `STORAGE_FAILED`
   * when they are missing in a storage that has had some, cannot be read, or are not as a gateway wrote them and may have had limits; model
   * requests are refused then.
   */
  read(): Promise<StoredSettings>
  /** Could cloud mode be on? Reads one record at most, and opens no vault: `read` decides. Rejects as `read` does. */
  mayMirror(): Promise<boolean>
  /** Reads them from the storage even if they are in memory. Rejects as `read` does. */
  reread(): Promise<StoredSettings>
  /** What changes of the settings are made with: see `writableSettings`. */
  readonly source: SettingsSource
}

/** What the reads and the writes of the settings share. */
interface SettingsSource {
  storage: Storage
  vault(): Promise<Vault>
  /** What the storage has now. */
  load(): Promise<LoadedSettings>
  /** They may have been changed. */
  expire(): void
  /** The settings that this gateway has written, until they are read again. */
  replace(settings: StoredSettings): void
}

/** The stored members, `undefined` when there are none that can be read; and whether they are as a gateway wrote them. */
interface LoadedSettings {
  version: string | null
  members: JsonObject | undefined
  isProven: boolean
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
  async function load(): Promise<LoadedSettings> {
    const opened = await vault() // which has taken over what a release before wrote
    const stored = await storage.get(SETTINGS).catch(failedTo('read', SETTINGS))
    const members = stored && parseSettings(stored.value)
    const isProven = members !== undefined && (await areProvenSettings(opened, settingsIn(members), members.mac))
    return { version: stored?.version ?? null, members, isProven }
  }

  const cached = createCached(async () => {
    const { members, isProven } = await load()
    if (!members || (!isProven && mayHaveLimits(members))) throw changedElsewhere()
    const problems = isProven ? readSettings(members).problems : [UNPROVEN]
    damage.saw(SETTINGS, problems.length > 0 ? problems.join('; ') : undefined)
    return isProven ? settingsIn(members) : shut(members)
  }, deps)

  const glance = createCached(async () => {
    const stored = await storage.get(SETTINGS).catch(failedTo('read', SETTINGS))
    return stored !== undefined && parseSettings(stored.value)?.cloudEnabled === true
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
    source: { storage, vault, load, expire, replace: (settings) => cached.replace(settings, true) },
  }
}

/**
 * The text of settings with the proof of `vault`, the defaults where there are none; `undefined` when they have it, or cannot be read. With a
 * `former` vault: only of settings that are there and that it proves.
 */
export async function signedSettings(
  text: string | undefined,
  { vault, former }: { vault: Vault; former?: Vault },
): Promise<string | undefined> {
  const members = text !== undefined ? parseSettings(text) : former ? undefined : {}
  const settings = members && settingsIn(members)
  if (!settings || (await areProvenSettings(former ?? vault, settings, members.mac)) !== (former !== undefined))
    return undefined
  return JSON.stringify({ ...members, mac: await proofOfSettings(vault, settings) })
}

export function parseSettings(text: string): JsonObject | undefined {
  const members = tryParseJson(text)
  return isObject(members) ? members : undefined
}

/** The settings in what is stored. A damaged value must not admit clients without a key (src/rules.md, Client keys). */
export const settingsIn = (members: JsonObject): StoredSettings => settingsBy(members, readSettings(members).record)

/**
 * Settings that are not as a gateway wrote them: whom they let in, as though it could not be read; the rest as it stands. Those with limits are
 * not used so, and mended alone.
 */
export const shut = (members: JsonObject): StoredSettings =>
  settingsBy(members, { ...readSettings(members).record, ...SHUT })

const fields: RecordFields = settingsFields

const SHUT = Object.fromEntries(
  Object.entries(fields).flatMap(([name, { guard, readAs }]) => (guard === 1 ? [[name, readAs]] : [])),
)

/** Do settings say, or did they, what may be used at most? What they say while they are not proven must not take the place of that. */
const mayHaveLimits = ({ mac, ...members }: JsonObject): boolean =>
  (typeof mac === 'string' && /^\d+:/.test(mac)) || Object.keys(members).some((name) => (fields[name]?.guard ?? 1) > 1)

/** Of the members as they are read, those that are known. */
function settingsBy(members: JsonObject, read: JsonObject): StoredSettings {
  const known: JsonObject = {}
  for (const [name, { absent }] of Object.entries(fields)) {
    const value = read[name] ?? absent
    if (value !== undefined && !Object.hasOwn(ruleShapes, name)) known[name] = value
  }
  return { ...known, rules: storedRules(members) } as StoredSettings // by the fields
}

const SET_AGAIN = 'Set them again: PATCH /api/settings with "requireApiKey".'

const UNPROVEN = `was not written by a gateway with this secret, and is read as requiring a key, with cloud mode off. ${SET_AGAIN}`

export const changedElsewhere = () =>
  gatewayError('STORAGE_FAILED', {
    message: `The settings in the storage are missing, damaged, or were not written by a gateway with this secret. ${SET_AGAIN}`,
  })
