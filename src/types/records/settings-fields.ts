import { cachingField } from './caching-fields.ts'
import { guardNames, usageLimits } from './limit-fields.ts'
import type { InputOf, OutputNames, RecordFields } from './record-fields.ts'
import { type RequestRules, ruleShapes, storedMaxAttemptsShape } from './rule-fields.ts'
import { choice, flag, integer, object, text, type ValueOf } from './shapes.ts'

const outagePolicy = { shape: choice(['refuse', 'allow']), isOptional: true } as const
const outagePolicyFields = {
  usd: outagePolicy,
  tokens: outagePolicy,
  requests: outagePolicy,
  parallel: outagePolicy,
} as const

const retentionDays = integer(1, 36_500)
const retentionFields = {
  /** How long to keep request records, in days. Default: 30. */
  keepRequestsDays: { shape: retentionDays, isOptional: true },
  /** How long to keep hourly totals, in days. Default: 400. */
  keepTotalsDays: { shape: retentionDays, isOptional: true },
} as const

/** The settings' fields. Settings are a single record with its own reading rules (records/stored-settings.ts). */
export const settingsFields = {
  /** Rejects requests to `/v1` or `/v1beta` without a valid key with a 401 (src/rules.md, Client keys). */
  requireApiKey: {
    shape: flag,
    isOptional: true,
    fallback: true,
    missingValue: false,
    signatureVersion: 1,
    inputs: { update: 'optional' },
  },
  /** Whether cloud sync is on. */
  cloudEnabled: {
    shape: flag,
    isOptional: true,
    fallback: false,
    missingValue: false,
    signatureVersion: 1,
    isSynced: false,
    inputs: { update: 'refused' },
  },
  /** URL of the cloud proxy, without a trailing `/v1` or slash; may be empty. */
  cloudUrl: {
    shape: text(),
    isOptional: true,
    fallback: '',
    missingValue: '',
    signatureVersion: 1,
    isSynced: false,
    inputs: { update: 'optional' },
  },
  health: { shape: ruleShapes.health, isOptional: true, isSynced: false, inputs: { update: 'merged' } },
  /** Maximum attempts per request, across all targets. Default: 3. */
  maxAttempts: { shape: storedMaxAttemptsShape, isOptional: true, isSynced: false, inputs: { update: 'removable' } },
  timeouts: { shape: ruleShapes.timeouts, isOptional: true, isSynced: false, inputs: { update: 'merged' } },
  /** Limits for all requests combined. A change replaces all of them. */
  limits: {
    shape: usageLimits,
    isOptional: true,
    signatureVersion: 2,
    isSynced: false,
    inputs: { update: 'removable' },
  },
  /** Names of guards that check all model requests. */
  guards: { shape: guardNames, isOptional: true, signatureVersion: 3, inputs: { update: 'removable' } },
  /** Whether requests with a dollar limit skip or allow targets with an unknown price. Default: `skip`. */
  whenPriceUnknown: {
    formerName: 'unpriced',
    shape: choice(['skip', 'allow']),
    isOptional: true,
    signatureVersion: 2,
    isSynced: false,
    inputs: { update: 'removable' },
  },
  /**
   * Rejects or allows requests with a limit of this unit while the storage is unavailable. Default: `refuse` for `usd` and `tokens`, `allow` for
   * other units.
   */
  onStorageUnavailable: {
    formerName: 'whenStoreIsAway',
    shape: object(outagePolicyFields),
    isOptional: true,
    signatureVersion: 2,
    isSynced: false,
    inputs: { update: 'merged' },
  },
  /**
   * Accepts requests with their own list of models (docs/src/content/docs/reference/request-options.md). Default: `true`. With `false`, they fail
   * with a 403.
   */
  allowRequestModels: {
    shape: flag,
    formerName: 'requestModels',
    isOptional: true,
    isSynced: false,
    inputs: { update: 'removable' },
  },
  /** Includes key values in lists of keys unless the request specifies otherwise. Default: `true`; with `false`, each key has a `hint` instead. */
  showKeyValues: { shape: flag, isOptional: true, isSynced: false, inputs: { update: 'removable' } },
  /** Whether the gateway asks providers to cache prompts. Keys, combo entries, and connections can differ. Default: `off`. */
  promptCaching: { ...cachingField, inputs: { update: 'removable' } },
  /** How long usage is kept. */
  usage: { shape: object(retentionFields), isOptional: true, isSynced: false, inputs: { update: 'merged' } },
  /** Identifies the last call that set `requireApiKey`; each call writes a new ID. */
  edit: { shape: text(), isOptional: true, isShown: false },
} as const satisfies RecordFields

/** Settings that are always present. */
type RequiredSettings = 'requireApiKey' | 'cloudEnabled' | 'cloudUrl' | keyof RequestRules

/** The gateway's settings, with defaults filled in: `false`, `""`, and the default rules. */
export interface Settings extends SettingsOf<typeof settingsFields> {}

type SettingsOf<F> = { -readonly [N in Extract<keyof F, RequiredSettings>]: Required<ValueOf<F[N]>> } & {
  -readonly [N in Exclude<OutputNames<F>, RequiredSettings>]?: ValueOf<F[N]>
}

/** A change to the settings. */
export interface SettingsChange extends InputOf<typeof settingsFields, 'update'> {}
