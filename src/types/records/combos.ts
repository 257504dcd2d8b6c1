import type { ComboModel, Strategy } from '../combo.ts'
import { answerConditions, kinds, strategies } from '../unions.ts'
import { free, type RecordFields, removable, type ShownOf, sentBack } from './fields.ts'
import { comboRuleShapes } from './rules.ts'
import { choice, flag, hostId, list, type Shape, storedId, text, time, whole } from './shapes.ts'

/** A model of a combo. */
export const entry: Shape<ComboModel> = { type: 'entry' }

/** How many requests in a row one target gets. */
export const stickyLimit = whole(1, 1_000)

/** Connections of a provider all weigh and cost the same. They bring no conditions to choose by. */
export const connectionStrategy: Shape<Strategy> = choice(
  strategies.filter((one) => one !== 'conditional'),
  { refused: ['conditional'] },
)

/** A name is checked by rules of its own: what is said of it is specified. */
const given = text()

/** The fields of a combo. */
export const comboFields = {
  id: {
    shape: storedId,
    readFrom: 'slot',
    given: { update: { as: 'same', shape: text() }, put: { as: 'optional', shape: hostId } },
  },
  /** Matches `^[a-zA-Z0-9_.-]+$`; unique among combos. */
  name: {
    shape: text({ most: 512, pattern: /^[a-zA-Z0-9_.-]+$/, form: 'comboName' }),
    isSlot: true,
    given: {
      create: { as: 'required', shape: given },
      update: { as: 'optional', shape: given },
      put: { as: 'required', shape: given },
    },
  },
  /** Where the combo is listed; default `llm`. One that is not known is listed nowhere. */
  kind: { shape: choice(kinds, { isOpen: true }), isOptional: true, readAs: 'llm', given: free },
  /** Model names, at most 100: `<alias>/<model_id>`, an alias, or another combo. */
  models: {
    shape: list(entry, { items: 'entries', most: 100 }),
    isEssential: true,
    given: { create: 'required', update: 'optional', put: 'optional' },
  },
  strategy: { shape: choice(strategies), readAs: 'fallback', given: free },
  /** The answers after which the next model is asked, as after a failure; default: none. */
  on: {
    shape: list(choice(answerConditions), { items: 'conditions', most: 2 }),
    isOptional: true,
    given: removable,
  },
  /** Under `round-robin`: how many requests in a row each model gets; default 1. */
  stickyLimit: { shape: stickyLimit, isOptional: true, given: removable },
  /** The strategy among the connections of each provider, any but `conditional`; default: that of a combo around it, else the provider's. */
  connectionStrategy: { shape: connectionStrategy, isOptional: true, given: removable },
  /** Is a second attempt started when the first takes longer than 95 % of its target's answers? Default false. */
  hedge: { shape: flag, isOptional: true, given: removable },
  /** May a combo of embeddings have different models, as their vectors are the same? Default false: it is refused. */
  sameVectors: { shape: flag, isOptional: true, given: removable },
  /** May another picture be ordered when it is not known whether the provider before has made one, and charges for it? Default false. */
  retryAmbiguous: { shape: flag, isOptional: true, given: removable },
  health: { shape: comboRuleShapes.health, isOptional: true, given: removable },
  /** Attempts for one request, all targets together; default 3. */
  maxAttempts: { shape: comboRuleShapes.maxAttempts, isOptional: true, given: removable },
  timeouts: { shape: comboRuleShapes.timeouts, isOptional: true, given: removable },
  from: { shape: text(), isOptional: true, isShown: false },
  movedTo: { shape: text(), isOptional: true, isShown: false },
  /** Changes with each write. */
  revision: { shape: text(), isOptional: true, isShown: false },
  /** ISO 8601. */
  createdAt: { shape: time, given: sentBack },
  /** ISO 8601. */
  updatedAt: { shape: time, given: sentBack },
} as const satisfies RecordFields

/** A named group of models that is listed and requested like a model. */
export interface Combo extends ShownOf<typeof comboFields> {}
