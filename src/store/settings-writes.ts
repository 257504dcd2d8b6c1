import { SETTINGS } from './collections.ts'
import {
  changedElsewhere,
  parseSettings,
  type SettingsStore,
  type StoredSettings,
  settingsIn,
  shut,
} from './settings.ts'
import { failedTo, retryLostRace } from './storage-access.ts'
import { proofOfSettings } from './vault.ts'

/** The settings with their changes, which only management makes. */
export interface WritableSettings extends SettingsStore {
  /**
   * Merges the patch for the stored settings into them, again when another writer was faster. Settings that are not as a gateway wrote them
   * are replaced by their reading and the patch, which must name `requireApiKey` then: rejects with `STORAGE_FAILED` otherwise.
   */
  update(patchFor: (stored: StoredSettings) => SettingsPatch): Promise<StoredSettings>
}

/** What changes of the stored settings; `undefined` removes. */
export type SettingsPatch = { [Name in keyof StoredSettings]?: StoredSettings[Name] | undefined }

export function writableSettings(settings: SettingsStore): WritableSettings {
  const { storage, vault, load, expire, replace } = settings.source
  return {
    ...settings,

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
        const written = settingsIn(parseSettings(value) ?? {})
        replace(written)
        return written
      }),
  }
}

/** The members of the storage that hold the rules. */
const NO_RULES = { health: undefined, maxAttempts: undefined, timeouts: undefined }
