import { gatewayError } from '../errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import type { RecordFields } from '../types/records/record-fields.ts'
import { ruleShapes } from '../types/records/rule-fields.ts'
import { settingsFields } from '../types/records/settings-fields.ts'
import type { Clock, RequestRules, Settings, Storage } from '../types.ts'
import type { FreshnessTracker } from './cached.ts'
import { createCache } from './cached.ts'
import type { CodeLayer } from './code-records.ts'
import type { Keyring } from './keyring.ts'
import { areSignedSettings } from './keyring.ts'
import { readRules, readSettings } from './readings.ts'
import { SETTINGS_KEY } from './record-collections.ts'
import { handleStorageError, type StaleFallback } from './storage-access.ts'
import type { DamageLog } from './stored-records.ts'

/** The settings as stored, with only the request rules that are set. */
export interface StoredSettings extends Omit<Settings, keyof RequestRules> {
  rules?: RequestRules | undefined
  /** Identifies the last call that set `requireApiKey`; each call writes a new ID. */
  edit?: string
}

/** The settings, with `false` and the empty string as defaults. */
export interface SettingsStore {
  /**
   * Reads the settings. Unsigned settings (keyring.ts) are read as requiring a key, with cloud sync off. Rejects with `STORAGE_FAILED`, so model
   * requests are rejected, if the settings are missing from a store that had some, can't be read, or are unsigned and may have had limits.
   */
  read(): Promise<StoredSettings>
  /**
   * Resolves to whether cloud sync may be on; only `read` knows for sure. Reads at most one record, and doesn't open the keyring. Rejects with the
   * same errors as `read`.
   */
  mayUseCloudSync(): Promise<boolean>
  /** Waits for a slow store if the settings in memory are too old. Never rejects. */
  refresh(): Promise<void>
  /** Reads the settings from the storage even if they are in memory. Rejects with the same errors as `read`. */
  reread(): Promise<StoredSettings>
  readonly source: SettingsSource
}

interface SettingsSource {
  storage: Storage
  keyring(): Promise<Keyring>
  load(): Promise<LoadedSettings>
  /** Makes the next use reread the settings. */
  expire(): void
  /** Uses the settings that this gateway has written until they are reread. Returns them with those defined in code. */
  replace(settings: StoredSettings): StoredSettings
}

interface LoadedSettings {
  version: string | null
  /** `undefined` if there are no readable settings. */
  members: JsonObject | undefined
  isSigned: boolean
}

export function createSettingsStore(deps: {
  storage: Storage
  clock: Clock
  freshness: FreshnessTracker
  staleFallback: StaleFallback
  damage: DamageLog
  /** The settings defined in code replace the stored ones. */
  code: CodeLayer
  keyring(): Promise<Keyring>
}): SettingsStore {
  const { storage, freshness, damage, code, keyring } = deps

  function withCodeSettings({ rules, ...stored }: StoredSettings): StoredSettings {
    const { settings } = code.records
    const { rules: codeRules, ...codeSettings } = toSettings(settings)
    const codeEntries = Object.entries(codeSettings).filter(([name]) => Object.hasOwn(settings, name))
    return { ...stored, ...Object.fromEntries(codeEntries), rules: codeRules ? { ...rules, ...codeRules } : rules }
  }

  async function load(): Promise<LoadedSettings> {
    const openedKeyring = await keyring()
    const stored = await storage.get(SETTINGS_KEY).catch(handleStorageError('read', SETTINGS_KEY))
    const members = stored && parseSettings(stored.value)
    const isSigned = members !== undefined && (await areSignedSettings(openedKeyring, toSettings(members), members.mac))
    return { version: stored?.version ?? null, members, isSigned }
  }

  const cachedSettings = createCache(async () => {
    const { members, isSigned } = await load()
    if (!members || (!isSigned && mayHaveLimits(members))) throw createSettingsError()
    const problems = isSigned ? readSettings(members).problems : [UNSIGNED_MESSAGE]
    damage.report(SETTINGS_KEY, problems.length > 0 ? problems.join('; ') : undefined)
    return withCodeSettings(isSigned ? toSettings(members) : toLockedSettings(members))
  }, deps)

  const cachedSyncFlag = createCache(async () => {
    const stored = await storage.get(SETTINGS_KEY).catch(handleStorageError('read', SETTINGS_KEY))
    return stored !== undefined && parseSettings(stored.value)?.cloudEnabled === true
  }, deps)

  function expire() {
    cachedSettings.expire()
    cachedSyncFlag.expire()
  }

  freshness.onChange((key) => {
    if (key === SETTINGS_KEY) expire()
  })
  freshness.onGap(expire)

  return {
    read: cachedSettings.current,
    refresh: cachedSettings.refresh,
    reread: cachedSettings.reread,
    mayUseCloudSync: cachedSyncFlag.current,
    source: {
      storage,
      keyring,
      load,
      expire,
      replace(settings) {
        const effectiveSettings = withCodeSettings(settings)
        cachedSettings.replace(effectiveSettings, true)
        return effectiveSettings
      },
    },
  }
}

/** Parses the stored fields under their current names. Returns `undefined` if the text isn't a JSON object. */
export function parseSettings(text: string): JsonObject | undefined {
  const members = tryParseJson(text)
  if (!isObject(members)) return undefined
  for (const [name, { formerName }] of Object.entries(fields)) {
    if (formerName === undefined || !Object.hasOwn(members, formerName)) continue
    members[name] ??= members[formerName]
    delete members[formerName]
  }
  return members
}

/** Converts stored fields to settings. A damaged value must not admit clients without a key (src/rules.md, Client keys). */
export const toSettings = (members: JsonObject): StoredSettings => buildSettings(members, readSettings(members).record)

/** Converts unsigned fields to settings that require a key and turn cloud sync off; other fields keep their values. */
export const toLockedSettings = (members: JsonObject): StoredSettings =>
  buildSettings(members, { ...readSettings(members).record, ...LOCKED_SETTINGS })

const fields: RecordFields = settingsFields

const LOCKED_SETTINGS = Object.fromEntries(
  Object.entries(fields).flatMap(([name, { signatureVersion, fallback }]) =>
    signatureVersion === 1 ? [[name, fallback]] : [],
  ),
)

/** Returns whether the settings have or had limits. If they are unsigned, their current limits can't be trusted. */
const mayHaveLimits = ({ mac, ...members }: JsonObject): boolean =>
  (typeof mac === 'string' && /^\d+:/.test(mac)) ||
  Object.keys(members).some((name) => (fields[name]?.signatureVersion ?? 1) > 1)

function buildSettings(members: JsonObject, readableFields: JsonObject): StoredSettings {
  const knownFields: JsonObject = {}
  for (const [name, { missingValue }] of Object.entries(fields)) {
    const value = readableFields[name] ?? missingValue
    if (value !== undefined && !Object.hasOwn(ruleShapes, name)) knownFields[name] = value
  }
  return { ...knownFields, rules: readRules(members) } as StoredSettings // the object has exactly these fields
}

const SET_AGAIN_ADVICE = 'Set them again: PATCH /api/settings with "requireApiKey".'

const UNSIGNED_MESSAGE = `was not written by a gateway with this secret, so API keys are required and cloud sync is off. ${SET_AGAIN_ADVICE}`

export const createSettingsError = () =>
  gatewayError('STORAGE_FAILED', {
    message: `The stored settings are missing, damaged, or were not written by a gateway with this secret. ${SET_AGAIN_ADVICE}`,
  })
