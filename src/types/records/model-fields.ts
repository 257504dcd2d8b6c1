import { kinds } from '../unions.ts'
import { connectionStrategy, stickyLimit } from './combo-fields.ts'
import { prices } from './price-fields.ts'
import type { InputOf, OutputOf, RecordFields } from './record-fields.ts'
import { choice, name } from './shapes.ts'

/** Required by `create` and `put`. `update` can't set it. */
const requiredFields = { create: 'required', put: 'required' } as const

/** The fields of a custom model. */
export const customModelFields = {
  id: { shape: name(512, { isPathSegment: true }), isEssential: true, inputs: requiredFields },
  /** The model's kind. Default: `llm`. */
  type: {
    shape: choice(kinds, { isOpen: true }),
    isOptional: true,
    inputs: { create: 'optional', put: 'optional' },
  },
  /** The model's prices. A connection's own prices take precedence. */
  prices: { shape: prices, isOptional: true, inputs: { create: 'optional', put: 'removable' } },
  providerAlias: { shape: name(200, { isPathSegment: true }), isEssential: true, inputs: requiredFields },
  /** `code` if the model is defined in the gateway's options, so it can't be changed here. Absent if it is stored. */
  source: { shape: choice(['code']), isOptional: true, isSynced: false },
} as const satisfies RecordFields

/** A model that isn't in the catalog, under a provider's alias or ID. */
export interface CustomModel extends OutputOf<typeof customModelFields> {}

/** The fields of an alias. */
export const aliasFields = {
  alias: { shape: name(200, { isPathSegment: true }), isStorageKey: true, inputs: { put: 'required' } },
  model: { shape: name(512), isEssential: true, inputs: { put: 'required' } },
  source: { shape: choice(['code']), isOptional: true, isShown: false },
} as const satisfies RecordFields

/** The fields that set the strategy for a provider's connections. */
export const providerFields = {
  provider: { shape: name(200), isStorageKey: true },
  strategy: { shape: connectionStrategy, isEssential: true, inputs: { update: 'required' } },
  /** With `round-robin`: the number of consecutive requests per connection. Default: 1. */
  stickyLimit: { shape: stickyLimit, isOptional: true, inputs: { update: 'optional' } },
} as const satisfies RecordFields

/** The strategy for a provider's connections. */
export interface ProviderStrategy extends InputOf<typeof providerFields, 'update'> {}
