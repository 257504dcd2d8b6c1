import type { Effort } from '../../traits.ts'
import type { EntryParams } from '../combo.ts'
import { strategies } from '../unions.ts'
import { type Combo, comboEntry, comboFields } from './combo-fields.ts'
import { type RecordField, settable } from './record-fields.ts'
import { choice, flag, integer, list, text } from './shapes.ts'

/**
 * The fields of a per-request model list (docs/src/content/docs/reference/request-options.md): a combo's fields, except its name and anything that outlives the request.
 */
export const requestModelsFields = {
  models: { shape: list(comboEntry, { items: 'entries', max: 100, isNonEmpty: true }), inputs: { create: 'required' } },
  on: comboFields.on,
  strategy: {
    shape: choice(
      strategies.filter((strategy) => strategy !== 'round-robin'),
      { disallowed: ['round-robin'] },
    ),
    inputs: settable,
  },
  hedge: comboFields.hedge,
  sameVectors: comboFields.sameVectors,
  retryAmbiguous: comboFields.retryAmbiguous,
  maxAttempts: comboFields.maxAttempts,
  timeouts: comboFields.timeouts,
} as const satisfies { readonly [N in keyof Required<RequestModels>]: RecordField }

/**
 * Models that a request sends instead of naming a combo, in its `x-signalbox-models` header. `maxAttempts` and `timeouts` can only lower the
 * gateway's values. `round-robin` isn't available, because it keeps a position between requests.
 */
export interface RequestModels
  extends Pick<Combo, 'models' | 'on' | 'hedge' | 'sameVectors' | 'retryAmbiguous' | 'maxAttempts' | 'timeouts'>,
    Partial<Pick<Combo, 'strategy'>> {}

/**
 * Options for one AI SDK call, as `providerOptions.signalbox` (docs/src/content/docs/reference/ai-sdk-provider.md): the fields of a model list, which
 * can also be set individually for the call's model; the equivalents of the headers `x-signalbox-timeout-ms`, `x-signalbox-strict`, and
 * `x-signalbox-session`; and the end user.
 */
export type SignalboxCallOptions = JsonTypeOf<
  Partial<RequestModels> & {
    /** Maximum wait for the call, in ms; up to a day. */
    timeoutMs?: number
    /** `true` rejects the call if translating it would drop something. */
    strict?: boolean
    session?: string
    /** The end user. */
    user?: string
    /** Parameters for the list's models, which override the call's own options. Only for chat. */
    params?: EntryParams
    /** Reasoning effort, which overrides the provider's options. Only for chat. */
    reasoning?: Effort
  }
>

/** Maps a type to an equivalent that is assignable to JSON types, which interfaces aren't. */
type JsonTypeOf<T> = T extends object ? { [Member in keyof T]: JsonTypeOf<T[Member]> } : T

/** The fields of call options, except `params` and `reasoning`, which belong to combo entries. */
export const callOptionsFields = {
  ...requestModelsFields,
  models: { shape: requestModelsFields.models.shape, inputs: settable },
  timeoutMs: { shape: integer(1, 24 * 60 * 60 * 1_000), inputs: settable },
  strict: { shape: flag, inputs: settable },
  session: { shape: text({ isNonEmpty: true, max: 512 }), inputs: settable },
  user: { shape: text(), inputs: settable },
} as const satisfies Readonly<Record<Exclude<keyof SignalboxCallOptions, 'params' | 'reasoning'>, RecordField>>
