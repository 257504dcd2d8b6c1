import { gatewayError } from '../errors.ts'
import { withoutTrailing } from '../lib/urls.ts'
import { effectiveRules, type RuledLimits } from '../routing/request-rules.ts'
import { SETTINGS } from '../store/collections.ts'
import type { StoredSettings } from '../store/settings.ts'
import type { SettingsPatch } from '../store/settings-writes.ts'
import type { WritableStore } from '../store/writable-store.ts'
import { type SettingsChange, settingsFields } from '../types/records/settings.ts'
import type { Settings } from '../types.ts'
import { addressProblem, invalidInput, parseInput } from './input.ts'
import type { GatewayLimitOperations } from './limits.ts'
import { isSameJson, newEdit } from './records.ts'
import { changedRules, checkCooldowns, merged } from './rules.ts'
import { inputSchema, membersByField } from './schemas.ts'

/** The settings. `Input` is accepted besides the typed input: nothing in process, `unknown` for bodies over HTTP. */
export interface SettingsOperations<Input = never> {
  /** The limits in the settings, as they stand. */
  limits: GatewayLimitOperations<Input>
  get(): Promise<Settings>
  /**
   * Writes nothing when nothing would change. Of the rules for requests, absent members stay and `null` restores the default; `limits` are set
   * as a whole, and `null` removes them. `cloudUrl`
   * loses one trailing `/v1` or `/v1/`, then all trailing slashes; empty is allowed. Rejects with `CLOUD_CONFLICT` when it would change while
   * cloud mode is on.
   */
  update(input: SettingsChange | Input): Promise<Settings>
}

export const settingsInputs = { update: inputSchema(settingsFields, 'update') }

const innerFields = membersByField(settingsFields)

/** `limits`: those of the gateway, which hold where the settings have no rules of their own. */
export function createSettingsOperations({
  store,
  limits,
}: {
  store: WritableStore
  limits: RuledLimits
}): Omit<SettingsOperations<unknown>, 'limits'> {
  const shown = ({ rules, edit: _, cloudEnabled, ...settings }: StoredSettings): Settings => ({
    cloudEnabled,
    ...settings,
    ...effectiveRules(limits, rules),
  })

  return {
    get: async () => shown(await store.settings.read()),

    async update(input) {
      const { cloudUrl, health, maxAttempts, timeouts, whenStoreIsAway, usage, ...plain } = parseInput(
        settingsInputs.update,
        input,
        innerFields,
      )
      const base = cloudUrl === undefined ? undefined : normalised(cloudUrl)
      function patchFor(stored: StoredSettings): SettingsPatch {
        const { rules: before, cloudEnabled: isOn, cloudUrl } = stored
        if (isOn && base !== undefined && base !== cloudUrl) throw gatewayError('CLOUD_CONFLICT', { message: STILL_ON })
        const rules = changedRules(before, { health, maxAttempts, timeouts })
        if (health) checkCooldowns(effectiveRules(limits, rules).health)
        return {
          rules,
          ...nullsRemoved(plain),
          ...(whenStoreIsAway !== undefined && { whenStoreIsAway: merged(stored.whenStoreIsAway, whenStoreIsAway) }),
          ...(usage !== undefined && { usage: merged(stored.usage, usage) }),
          ...(base !== undefined && { cloudUrl: base }),
        }
      }
      const stored = await store.settings.reread().catch(() => undefined) // what cannot be read may be mended by the change
      const isSame = stored && !store.damage.has(SETTINGS) && isSameJson(stored, { ...stored, ...patchFor(stored) })
      const edit = plain.requireApiKey === undefined ? {} : { edit: newEdit() }
      return shown(isSame ? stored : await store.settings.update((before) => ({ ...patchFor(before), ...edit })))
    },
  }
}

/** What is to be removed, as `undefined`. */
const nullsRemoved = <T extends object>(change: T) =>
  Object.fromEntries(Object.entries(change).map(([name, value]) => [name, value ?? undefined])) as {
    [Name in keyof T]: Exclude<T[Name], null> | undefined // `undefined` for each null
  }

const STILL_ON =
  '"cloudUrl" cannot be changed while cloud mode is on: the mirror is there. Send POST /api/sync/cloud with the action "disable" first.'

function normalised(cloudUrl: string): string {
  const base = withoutTrailing(cloudUrl.trim().replace(/\/v1\/?$/, ''), '/')
  const problem = base === '' ? undefined : addressProblem(base)
  if (problem) throw invalidInput(`"cloudUrl" ${problem}, or be empty`)
  return base
}
