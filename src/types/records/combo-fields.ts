import type { ComboModel, ResponseCondition, Strategy } from '../combo.ts'
import { kinds, responseConditions, strategies } from '../unions.ts'
import { guardNames } from './limit-fields.ts'
import { ignoredInUpdates, type OutputOf, type RecordFields, removable, settable } from './record-fields.ts'
import { comboRuleShapes } from './rule-fields.ts'
import { choice, customId, flag, integer, list, type Shape, storedId, text, time } from './shapes.ts'

export const comboEntry: Shape<ComboModel> = { type: 'entry' }

/** The number of consecutive requests that a target gets. */
export const stickyLimit = integer(1, 1_000)

/** The strategy for connections. `conditional` is excluded, because connections have no conditions. */
export const connectionStrategy: Shape<Strategy> = choice(
  strategies.filter((strategy) => strategy !== 'conditional'),
  { disallowed: ['conditional'] },
)

/** Any string. The value is checked separately, because the specification prescribes the error messages. */
const plainText = text()

/** The fields of a combo. */
export const comboFields = {
  id: {
    shape: storedId,
    readFrom: 'storageKey',
    inputs: { update: { as: 'same', shape: text() }, put: { as: 'optional', shape: customId } },
  },
  /** Matches `^[a-zA-Z0-9_.-]+$`. Unique among combos. */
  name: {
    shape: text({ max: 512, pattern: /^[a-zA-Z0-9_.-]+$/, form: 'comboName' }),
    isStorageKey: true,
    inputs: {
      create: { as: 'required', shape: plainText },
      update: { as: 'optional', shape: plainText },
      put: { as: 'required', shape: plainText },
    },
  },
  /** Where the combo is listed. Default: `llm`. An unknown kind isn't listed anywhere. */
  kind: { shape: choice(kinds, { isOpen: true }), isOptional: true, fallback: 'llm', inputs: settable },
  /** Model names, at most 100: `<alias>/<model_id>`, an alias, or another combo. */
  models: {
    shape: list(comboEntry, { items: 'entries', max: 100 }),
    isEssential: true,
    inputs: { create: 'required', update: 'optional', put: 'optional' },
  },
  strategy: { shape: choice(strategies), fallback: 'fallback', inputs: settable },
  /** Responses after which the next model is tried, as after a failure. Default: none. */
  on: {
    shape: list(choice<ResponseCondition>(responseConditions, { disallowed: ['function'] }), {
      items: 'conditions',
      max: responseConditions.length,
    }),
    isOptional: true,
    inputs: removable,
  },
  /** With `round-robin`: the number of consecutive requests per model. Default: 1. */
  stickyLimit: { shape: stickyLimit, isOptional: true, inputs: removable },
  /** The strategy for each provider's connections, any except `conditional`. Default: the outer combo's, or else the provider's. */
  connectionStrategy: { shape: connectionStrategy, isOptional: true, inputs: removable },
  /** Names of guards that check requests for models that resolve to the combo. */
  /** Invalid stored names are read as `none`, which can't be a guard's name, so no request is served. */
  guards: { shape: guardNames, isOptional: true, fallback: ['none'], inputs: removable },
  /** Starts a second attempt if the first takes longer than 95% of its target's responses. Default: `false`. */
  hedge: { shape: flag, isOptional: true, inputs: removable },
  /** Allows different models in an embedding combo, on your assurance that their vectors are compatible. Default: `false`. */
  sameVectors: { shape: flag, isOptional: true, inputs: removable },
  /** Retries an image request even if the previous provider may have generated, and billed, an image. Default: `false`. */
  retryAmbiguous: { shape: flag, isOptional: true, inputs: removable },
  health: { shape: comboRuleShapes.health, isOptional: true, inputs: removable },
  /** Maximum attempts per request, across all targets. Default: 3. */
  maxAttempts: { shape: comboRuleShapes.maxAttempts, isOptional: true, inputs: removable },
  timeouts: { shape: comboRuleShapes.timeouts, isOptional: true, inputs: removable },
  /** `code` if the combo is defined in the gateway's options, so it can't be changed here. Absent if it is stored. */
  source: { shape: choice(['code']), isOptional: true, isSynced: false, inputs: ignoredInUpdates },
  from: { shape: text(), isOptional: true, isShown: false },
  movedTo: { shape: text(), isOptional: true, isShown: false },
  /** A value that changes with each write. */
  revision: { shape: text(), isOptional: true, isShown: false },
  /** ISO 8601. */
  createdAt: { shape: time, inputs: ignoredInUpdates },
  /** ISO 8601. */
  updatedAt: { shape: time, inputs: ignoredInUpdates },
} as const satisfies RecordFields

/** A virtual model: a named group of models with a routing strategy, listed and requested like a model. */
export interface Combo extends OutputOf<typeof comboFields> {}
