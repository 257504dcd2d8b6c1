import type { InputOf, RecordFields, ShownNames } from './fields.ts'
import { type RequestRules, ruleShapes, storedAttempts } from './rules.ts'
import { flag, text, type ValueOf } from './shapes.ts'

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
