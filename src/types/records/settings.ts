import type { InputOf, RecordFields, ShownNames } from './fields.ts'
import { usageLimits } from './limits.ts'
import { type RequestRules, ruleShapes, storedAttempts } from './rules.ts'
import { choice, flag, object, text, type ValueOf, whole } from './shapes.ts'

const verdict = { shape: choice(['refuse', 'allow']), isOptional: true } as const
const whenAway = { usd: verdict, tokens: verdict, requests: verdict, parallel: verdict } as const

const days = whole(1, 36_500)
const kept = {
  /** The records of single requests; default 30. */
  keepRequestsDays: { shape: days, isOptional: true },
  /** The totals of each hour; default 400. */
  keepTotalsDays: { shape: days, isOptional: true },
} as const

/** The fields of the settings, which are one record. They are read by rules of their own (store/settings.ts). */
export const settingsFields = {
  /** Is a request to `/v1` or `/v1beta` without a valid key refused with 401 (src/rules.md, Client keys)? */
  requireApiKey: {
    shape: flag,
    isOptional: true,
    readAs: true,
    absent: false,
    guard: 1,
    given: { update: 'optional' },
  },
  /** Is cloud mode on? */
  cloudEnabled: {
    shape: flag,
    isOptional: true,
    readAs: false,
    absent: false,
    guard: 1,
    isMirrored: false,
    given: { update: 'refused' },
  },
  /** Address of the cloud proxy, without a trailing `/v1` or slash; may be empty. */
  cloudUrl: {
    shape: text(),
    isOptional: true,
    readAs: '',
    absent: '',
    guard: 1,
    isMirrored: false,
    given: { update: 'optional' },
  },
  health: { shape: ruleShapes.health, isOptional: true, isMirrored: false, given: { update: 'merged' } },
  /** Attempts for one request, all targets together; default 3. */
  maxAttempts: { shape: storedAttempts, isOptional: true, isMirrored: false, given: { update: 'removable' } },
  timeouts: { shape: ruleShapes.timeouts, isOptional: true, isMirrored: false, given: { update: 'merged' } },
  /** The limits of all requests together. A change replaces all of them. */
  limits: { shape: usageLimits, isOptional: true, guard: 2, isMirrored: false, given: { update: 'removable' } },
  /** Are targets without a known price skipped or used where US dollars are limited? Default `skip`. */
  unpriced: {
    shape: choice(['skip', 'allow']),
    isOptional: true,
    guard: 2,
    isMirrored: false,
    given: { update: 'removable' },
  },
  /** Is a request with a limit of this unit refused while the storage is unavailable? Default `refuse` for USD and tokens, `allow` for the others. */
  whenStoreIsAway: {
    shape: object(whenAway),
    isOptional: true,
    guard: 2,
    isMirrored: false,
    given: { update: 'merged' },
  },
  /** May requests bring lists of models (src/routing/LISTS.md)? Default true; `false`: such a request is refused with 403. */
  requestModels: { shape: flag, isOptional: true, isMirrored: false, given: { update: 'removable' } },
  /** How long usage is kept. */
  usage: { shape: object(kept), isOptional: true, isMirrored: false, given: { update: 'merged' } },
  /** A mark of the last call that set `requireApiKey`; each such call writes a new one. */
  edit: { shape: text(), isOptional: true, isShown: false },
} as const satisfies RecordFields

/** Those that are set whether they are stored or not. */
type Set = 'requireApiKey' | 'cloudEnabled' | 'cloudUrl' | keyof RequestRules

/** The settings of a gateway with their defaults filled in: `false`, `""`, and the default rules. */
export interface Settings extends SettingsOf<typeof settingsFields> {}

type SettingsOf<F> = { -readonly [N in Extract<keyof F, Set>]: Required<ValueOf<F[N]>> } & {
  -readonly [N in Exclude<ShownNames<F>, Set>]?: ValueOf<F[N]>
}

/** A change of the settings. */
export interface SettingsChange extends InputOf<typeof settingsFields, 'update'> {}
