import { gatewayError } from '../errors.ts'
import type { JsonObject } from '../lib/json.ts'
import { findCloudUrlProblem } from '../lib/shape-texts.ts'
import { trimCloudUrl } from '../lib/urls.ts'
import { SETTINGS_KEY } from '../records/record-collections.ts'
import type { SettingsPatch } from '../records/settings-writes.ts'
import type { StoredSettings } from '../records/stored-settings.ts'
import type { WritableStore } from '../records/writable-store.ts'
import { mergeRules, type OverridableLimits } from '../request/routing/request-rules.ts'
import { type SettingsChange, settingsFields } from '../types/records/settings-fields.ts'
import type { Settings } from '../types.ts'
import { requireGuards } from './guard-names.ts'
import { createInputError, parseInput } from './input.ts'
import { createEditId, isSameJson } from './record-operations.ts'
import { changeRules, mergeFields, validateCooldowns } from './rules.ts'
import { createInputSchema, listNestedFields } from './schemas.ts'

/** The settings. Methods take the typed input or `Input`, which is `never` for in-process calls and `unknown` for HTTP bodies. */
export interface SettingsOperations<Input = never> {
  get(): Promise<Settings>
  /**
   * Writes nothing if nothing would change. For routing rules, omitted fields stay the same and `null` restores the default; `limits` is replaced as
   * a whole, and `null` removes it. Removes one trailing `/v1` or `/v1/` from `cloudUrl`, then all trailing slashes; an empty string is allowed.
   * Rejects with `CLOUD_CONFLICT` if `cloudUrl` would change while cloud sync is on.
   */
  update(input: SettingsChange | Input): Promise<Settings>
}

export const settingsInputs = { update: createInputSchema(settingsFields, 'update') }

const nestedFields = listNestedFields(settingsFields)

/** Creates the operations. `limits` are the gateway's, which apply unless the settings have rules. */
export function createSettingsOperations({
  store,
  limits,
}: {
  store: WritableStore
  limits: OverridableLimits
}): SettingsOperations<unknown> {
  const toSettings = ({ rules, edit: _, cloudEnabled, ...settings }: StoredSettings): Settings => ({
    cloudEnabled,
    ...settings,
    ...mergeRules(limits, rules),
  })

  return {
    get: async () => toSettings(await store.settings.read()),

    async update(input) {
      const changes = parseInput(settingsInputs.update, input, nestedFields)
      await requireGuards(store, changes)
      const codeSettings = store.code.records.settings
      if (Object.keys(codeSettings).some((name) => Object.hasOwn(changes, name))) {
        const currentSettings = await store.settings.read().then(toSettings, () => codeSettings)
        requireSameFields(changes, [{ ...codeSettings }, { ...currentSettings }])
      }
      const { cloudUrl, health, maxAttempts, timeouts, onStorageUnavailable, usage, ...plainFields } = pickStoredFields(
        changes,
        codeSettings,
      )
      const normalizedUrl = cloudUrl === undefined ? undefined : normalizeCloudUrl(cloudUrl)
      function createPatch(storedSettings: StoredSettings): SettingsPatch {
        const { rules: previousRules, cloudEnabled: isCloudEnabled, cloudUrl } = storedSettings
        if (isCloudEnabled && normalizedUrl !== undefined && normalizedUrl !== cloudUrl)
          throw gatewayError('CLOUD_CONFLICT', { message: CLOUD_ENABLED_MESSAGE })
        const rules = changeRules(previousRules, { health, maxAttempts, timeouts })
        if (health) validateCooldowns(mergeRules(limits, rules).health)
        return {
          rules,
          ...removeNulls(plainFields),
          ...(onStorageUnavailable !== undefined && {
            onStorageUnavailable: mergeFields(storedSettings.onStorageUnavailable, onStorageUnavailable),
          }),
          ...(usage !== undefined && { usage: mergeFields(storedSettings.usage, usage) }),
          ...(normalizedUrl !== undefined && { cloudUrl: normalizedUrl }),
        }
      }
      const storedSettings = await store.settings.reread().catch(() => undefined) // the change may repair settings that can't be read
      const isUnchanged =
        storedSettings &&
        !store.damage.has(SETTINGS_KEY) &&
        isSameJson(storedSettings, { ...storedSettings, ...createPatch(storedSettings) })
      const edit = plainFields.requireApiKey === undefined ? {} : { edit: createEditId() }
      return toSettings(
        isUnchanged ? storedSettings : await store.settings.update((current) => ({ ...createPatch(current), ...edit })),
      )
    },
  }
}

/** Throws `DEFINED_IN_CODE` for a change to a setting that is defined in code; its value can be sent back as defined or as shown. */
function requireSameFields(changes: JsonObject, [code, now]: readonly [code: JsonObject, now: JsonObject]): void {
  const isUnchanged = (name: string) => [code, now].some((fields) => isSameJson([changes[name]], [fields[name]]))
  const name = Object.keys(code).find((name) => Object.hasOwn(changes, name) && !isUnchanged(name))
  if (name === undefined) return
  throw gatewayError('DEFINED_IN_CODE', {
    message: `"${name}" is defined in code and cannot be changed here. Change the gateway's options instead.`,
  })
}

/**
 * Returns the fields to store. Omits fields defined in code, so their stored values apply again once the code no longer sets them. Keeps
 * `requireApiKey`, because storing it repairs the settings.
 */
const pickStoredFields = <T extends object>(fields: T, code: JsonObject) =>
  Object.fromEntries(
    Object.entries(fields).filter(([name]) => name === 'requireApiKey' || !Object.hasOwn(code, name)),
  ) as T // all of `T`'s fields are optional

/** Replaces `null`, which removes a field, with `undefined`. */
const removeNulls = <T extends object>(change: T) =>
  Object.fromEntries(Object.entries(change).map(([name, value]) => [name, value ?? undefined])) as {
    [Name in keyof T]: Exclude<T[Name], null> | undefined
  }

const CLOUD_ENABLED_MESSAGE =
  '"cloudUrl" cannot be changed while cloud sync is on, because the data is synced there. Send POST /api/sync/cloud with the action "disable" first.'

function normalizeCloudUrl(cloudUrl: string): string {
  const trimmedUrl = trimCloudUrl(cloudUrl)
  const problem = trimmedUrl === '' ? undefined : findCloudUrlProblem(trimmedUrl)
  if (problem) throw createInputError(`"cloudUrl" ${problem}`)
  return trimmedUrl
}
