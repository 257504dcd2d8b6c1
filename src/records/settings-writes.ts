import { signSettings } from './keyring.ts'
import { SETTINGS_KEY } from './record-collections.ts'
import { handleStorageError, retryOnConflict } from './storage-access.ts'
import {
  createSettingsError,
  parseSettings,
  type SettingsStore,
  type StoredSettings,
  toLockedSettings,
  toSettings,
} from './stored-settings.ts'

/** Settings with write operations, for management only. */
export interface WritableSettings extends SettingsStore {
  /**
   * Merges the patch into the stored settings; retries if another write came first. If the stored settings are unsigned, replaces them with their
   * readable values and the patch, which must then contain `requireApiKey`; otherwise, rejects with `STORAGE_FAILED`.
   */
  update(createPatch: (stored: StoredSettings) => SettingsPatch): Promise<StoredSettings>
}

/** Changes to the stored settings; `undefined` removes a field. */
export type SettingsPatch = { [Name in keyof StoredSettings]?: StoredSettings[Name] | undefined }

export function createWritableSettings(settings: SettingsStore): WritableSettings {
  const { storage, keyring, load, expire, replace } = settings.source
  return {
    ...settings,

    update: (createPatch) =>
      retryOnConflict(async () => {
        const { version, members, isSigned } = await load()
        const signedFields = isSigned ? members : undefined
        const stored = signedFields ? toSettings(signedFields) : toLockedSettings(members ?? {})
        const patch = createPatch(stored)
        if (!signedFields && patch.requireApiKey === undefined) throw createSettingsError()
        const { rules, ...next } = { ...signedFields, ...stored, ...patch }
        const value = JSON.stringify({
          ...next,
          ...NO_RULES,
          ...rules,
          mac: await signSettings(await keyring(), next),
        })
        const pendingWrite = storage
          .set(SETTINGS_KEY, value, { ifVersion: version })
          .catch(handleStorageError('write', SETTINGS_KEY))
        if ((await pendingWrite.finally(expire)) === false) return false
        return replace(toSettings(parseSettings(value) ?? {}))
      }),
  }
}

/** Clears the stored fields that contain the rules. */
const NO_RULES = { health: undefined, maxAttempts: undefined, timeouts: undefined }
