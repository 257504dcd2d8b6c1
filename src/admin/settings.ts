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
import { changeRules, checkCooldowns, mergeFields } from './rules.ts'
import { createInputSchema, listInnerFields } from './schemas.ts'

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

const innerFields = listInnerFields(settingsFields)

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
      const changes = parseInput(settingsInputs.update, input, innerFields)
      await requireGuards(store, changes)
      const code = store.code.records.settings
      if (Object.keys(code).some((name) => Object.hasOwn(changes, name))) {
        const now = await store.settings.read().then(toSettings, () => code)
        requireSameFields(changes, [{ ...code }, { ...now }])
      }
      const { cloudUrl, health, maxAttempts, timeouts, onStorageUnavailable, usage, ...plainFields } = pickStored(
        changes,
        code,
      )
      const base = cloudUrl === undefined ? undefined : normalizeCloudUrl(cloudUrl)
      function createPatch(stored: StoredSettings): SettingsPatch {
        const { rules: previousRules, cloudEnabled: isOn, cloudUrl } = stored
        if (isOn && base !== undefined && base !== cloudUrl)
          throw gatewayError('CLOUD_CONFLICT', { message: CLOUD_IS_ON })
        const rules = changeRules(previousRules, { health, maxAttempts, timeouts })
        if (health) checkCooldowns(mergeRules(limits, rules).health)
        return {
          rules,
          ...removeNulls(plainFields),
          ...(onStorageUnavailable !== undefined && {
            onStorageUnavailable: mergeFields(stored.onStorageUnavailable, onStorageUnavailable),
          }),
          ...(usage !== undefined && { usage: mergeFields(stored.usage, usage) }),
          ...(base !== undefined && { cloudUrl: base }),
        }
      }
      const stored = await store.settings.reread().catch(() => undefined) // the change may repair settings that can't be read
      const isSame =
        stored && !store.damage.has(SETTINGS_KEY) && isSameJson(stored, { ...stored, ...createPatch(stored) })
      const edit = plainFields.requireApiKey === undefined ? {} : { edit: createEditId() }
      return toSettings(
        isSame ? stored : await store.settings.update((current) => ({ ...createPatch(current), ...edit })),
      )
    },
  }
}

/** Throws `DEFINED_IN_CODE` for a change to a setting that is defined in code; its value can be sent back as defined or as shown. */
function requireSameFields(changes: JsonObject, [code, now]: readonly [code: JsonObject, now: JsonObject]): void {
  const isSame = (name: string) => [code, now].some((fields) => isSameJson([changes[name]], [fields[name]]))
  const name = Object.keys(code).find((name) => Object.hasOwn(changes, name) && !isSame(name))
  if (name === undefined) return
  throw gatewayError('DEFINED_IN_CODE', {
    message: `"${name}" is defined in code and cannot be changed here. Change the gateway's options instead.`,
  })
}

/**
 * Returns the fields to store. Omits fields defined in code, so their stored values apply again once the code no longer sets them. Keeps
 * `requireApiKey`, because storing it repairs the settings.
 */
const pickStored = <T extends object>(fields: T, code: JsonObject) =>
  Object.fromEntries(
    Object.entries(fields).filter(([name]) => name === 'requireApiKey' || !Object.hasOwn(code, name)),
  ) as T // all of `T`'s fields are optional

/** Replaces `null`, which removes a field, with `undefined`. */
const removeNulls = <T extends object>(change: T) =>
  Object.fromEntries(Object.entries(change).map(([name, value]) => [name, value ?? undefined])) as {
    [Name in keyof T]: Exclude<T[Name], null> | undefined
  }

const CLOUD_IS_ON =
  '"cloudUrl" cannot be changed while cloud sync is on, because the data is synced there. Send POST /api/sync/cloud with the action "disable" first.'

function normalizeCloudUrl(cloudUrl: string): string {
  const base = trimCloudUrl(cloudUrl)
  const problem = base === '' ? undefined : findCloudUrlProblem(base)
  if (problem) throw createInputError(`"cloudUrl" ${problem}`)
  return base
}
