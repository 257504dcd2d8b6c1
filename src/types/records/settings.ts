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
  /** What all requests together may use. Set as a whole. */
  limits: { shape: usageLimits, isOptional: true, guard: 2, isMirrored: false, given: { update: 'removable' } },
  /** What becomes of a target whose price is not known where US dollars are limited; default `skip`. */
  unpriced: {
    shape: choice(['skip', 'allow']),
    isOptional: true,
    guard: 2,
    isMirrored: false,
    given: { update: 'removable' },
  },
  /** What becomes of a request with limits of that unit while the storage is away; default `refuse` for USD and tokens, `allow` for the others. */
  whenStoreIsAway: {
    shape: object(whenAway),
    isOptional: true,
    guard: 2,
    isMirrored: false,
    given: { update: 'merged' },
  },
  /** May requests bring lists of models (src/routing/LISTS.md)? Default true; `false`: such a request is refused with 403. */
  requestModels: { shape: flag, isOptional: true, isMirrored: false, given: { update: 'removable' } },
  /** How long it is kept what was used. */
  usage: { shape: object(kept), isOptional: true, isMirrored: false, given: { update: 'merged' } },
  /** Of the last call that set `requireApiKey`: another one for each. */
  edit: { shape: text(), isOptional: true, isShown: false },
} as const satisfies RecordFields

/** Those that are set whether they are stored or not. */
type Set = 'requireApiKey' | 'cloudEnabled' | 'cloudUrl' | keyof RequestRules

/** The settings of a gateway, by default `false` and `""`, and the rules that hold without. */
export interface Settings extends SettingsOf<typeof settingsFields> {}

type SettingsOf<F> = { -readonly [N in Extract<keyof F, Set>]: Required<ValueOf<F[N]>> } & {
  -readonly [N in Exclude<ShownNames<F>, Set>]?: ValueOf<F[N]>
}

/** A change of the settings. */
export interface SettingsChange extends InputOf<typeof settingsFields, 'update'> {}
