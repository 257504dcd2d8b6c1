import type { Effort } from '../../traits.ts'
import type { EntryParams } from '../combo.ts'
import { strategies } from '../unions.ts'
import { type Combo, comboFields, entry } from './combos.ts'
import { free, type RecordField } from './fields.ts'
import { choice, flag, list, text, whole } from './shapes.ts'

/** The members of the models that a request brings (src/routing/LISTS.md). They are those of a combo, but for its name and what lasts. */
export const requestModelsFields = {
  models: { shape: list(entry, { items: 'entries', most: 100, isFilled: true }), given: { create: 'required' } },
  on: comboFields.on,
  strategy: {
    shape: choice(
      strategies.filter((one) => one !== 'round-robin'),
      { refused: ['round-robin'] },
    ),
    given: free,
  },
  hedge: comboFields.hedge,
  sameVectors: comboFields.sameVectors,
  retryAmbiguous: comboFields.retryAmbiguous,
  maxAttempts: comboFields.maxAttempts,
  timeouts: comboFields.timeouts,
} as const satisfies { readonly [N in keyof Required<RequestModels>]: RecordField }

/**
 * Models that a request brings in place of a combo, in its header `x-signalbox-models`. `maxAttempts` and `timeouts` can only be lower than what
 * holds for the gateway; `round-robin` keeps a turn between requests, and is no strategy of a list.
 */
export interface RequestModels
  extends Pick<Combo, 'models' | 'on' | 'hedge' | 'sameVectors' | 'retryAmbiguous' | 'maxAttempts' | 'timeouts'>,
    Partial<Pick<Combo, 'strategy'>> {}

/**
 * What one call of the AI SDK says to the gateway, as `providerOptions.signalbox` (src/ai/README.md): the members of a list, each of which may be
 * given alone, for the model of the call; and what other clients say by the headers `x-signalbox-timeout-ms`, `x-signalbox-strict` and
 * `x-signalbox-session`, or by the end user of their format.
 */
export type SignalboxCallOptions = JsonTypeOf<
  Partial<RequestModels> & {
    /** How long the call waits at most, in ms; up to a day. */
    timeoutMs?: number
    /** `true`: what a translation cannot carry whole is refused. */
    strict?: boolean
    session?: string
    /** The end user. */
    user?: string
    /** What the call is set to at each of its models, over its own options. Only for chat. */
    params?: EntryParams
    /** How hard the model is to reason, over the options of its provider. Only for chat. */
    reasoning?: Effort
  }
>

/** The same as a type that fits into those of JSON, as interfaces do not. */
type JsonTypeOf<T> = T extends object ? { [Member in keyof T]: JsonTypeOf<T[Member]> } : T

/** Its members but `params` and `reasoning`, which are those of an entry of a combo. */
export const callOptionsFields = {
  ...requestModelsFields,
  models: { shape: requestModelsFields.models.shape, given: free },
  timeoutMs: { shape: whole(1, 24 * 60 * 60 * 1_000), given: free },
  strict: { shape: flag, given: free },
  session: { shape: text({ isFilled: true, most: 512 }), given: free },
  user: { shape: text(), given: free },
} as const satisfies Readonly<Record<Exclude<keyof SignalboxCallOptions, 'params' | 'reasoning'>, RecordField>>
