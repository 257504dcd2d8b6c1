import { strategies } from '../unions.ts'
import { type Combo, comboFields, entry } from './combos.ts'
import { free, type RecordField } from './fields.ts'
import { choice, list } from './shapes.ts'

/** The members of the models that a request brings (src/routing/LISTS.md). They are those of a combo, but for its name and what lasts. */
export const requestModelsFields = {
  models: { shape: list(entry, { items: 'models', most: 100, isFilled: true }), given: { create: 'required' } },
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
