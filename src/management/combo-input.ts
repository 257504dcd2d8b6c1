import * as v from 'valibot'
import { isObject } from '../lib/json.ts'
import type { ComboModel } from '../types.ts'
import { condition } from './condition-input.ts'
import { connectionStrategy, fields, stickyLimit } from './fields.ts'
import { closed } from './input.ts'
import { comboRules } from './rules-input.ts'

const WEIGHT = 'must be a number from 0 to 1000'
const MAX_MODELS = 100

const detailedModel = v.pipe(
  closed({
    model: fields.model,
    weight: v.optional(v.pipe(v.number(WEIGHT), v.minValue(0, WEIGHT), v.maxValue(1_000, WEIGHT))),
    when: v.optional(condition),
  }),
  v.transform(
    ({ model, weight, when }): ComboModel => ({
      model,
      ...(weight !== undefined && { weight }),
      ...(when !== undefined && { when }),
    }),
  ),
)
const comboModel = v.lazy((input) => (isObject(input) ? detailedModel : fields.modelOrObject))
const models = v.pipe(
  v.array(comboModel, 'must be a list of model names'),
  v.maxLength(MAX_MODELS, `must not name more than ${MAX_MODELS} models`),
)
const shared = { strategy: v.exactOptional(fields.strategy), kind: v.exactOptional(fields.kind) }

export const newCombo = closed({
  name: fields.text,
  models,
  ...shared,
  stickyLimit: v.exactOptional(stickyLimit),
  connectionStrategy: v.exactOptional(connectionStrategy),
  hedge: v.exactOptional(fields.flag),
  health: v.exactOptional(comboRules.health),
  maxAttempts: v.exactOptional(comboRules.maxAttempts),
  timeouts: v.exactOptional(comboRules.timeouts),
})

/** `null` removes. */
const changes = {
  models: v.exactOptional(models),
  ...shared,
  stickyLimit: v.exactOptional(v.nullable(stickyLimit)),
  connectionStrategy: v.exactOptional(v.nullable(connectionStrategy)),
  hedge: v.exactOptional(v.nullable(fields.flag)),
  health: v.exactOptional(v.nullable(comboRules.health)),
  maxAttempts: v.exactOptional(v.nullable(comboRules.maxAttempts)),
  timeouts: v.exactOptional(v.nullable(comboRules.timeouts)),
}

export const comboChange = closed({
  name: v.exactOptional(fields.text),
  ...changes,
  id: v.exactOptional(fields.text),
  createdAt: fields.ignored,
  updatedAt: fields.ignored,
})

/** What `combos.put` takes; without an `id` the name says which combo is meant. */
export const comboPut = closed({ name: fields.text, ...changes, id: v.exactOptional(fields.recordId) })
