import type { Effort, Traits } from '../../traits.ts'

/** Reasoning tokens by effort. A convention, not a standard: the vendors' own compatibility layers differ by a factor of two. */
const BUDGETS: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 65_536,
}

export const EFFORTS: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

const NAME = { characters: 'A-Za-z0-9_-', maxLength: 64 }

/** The traits of a permissive provider; each format overrides what differs. */
export const baseTraits: Traits = {
  lacks: [],
  inputs: ['image', 'image-url', 'file', 'file-url'],
  assistantImages: false,
  signsAnswers: false,
  documents: false,
  toolResultInputs: [],
  maxTemperature: 2,
  maxStopSequences: 4,
  maxOutputTokens: undefined,
  minOutputTokens: 1,
  outputLimitField: 'max_completion_tokens',
  topKField: 'top_k',
  stopFields: [],
  developerRole: true,
  lateSystem: true,
  emptyText: 'taken',
  prefill: true,
  toolIds: NAME,
  textAfterCalls: true,
  callIds: true,
  toolNames: NAME,
  freeFormTools: false,
  ownTools: false,
  unionTools: false,
  searchBesideTools: true,
  reportsSearches: false,
  plainOutput: false,
  strictTools: true,
  toolChoices: ['none', 'required', 'tool', 'allowed'],
  declaresTools: false,
  webSearch: false,
  compacts: false,
  schema: 'json-schema',
  outputFormats: ['json', 'json-schema'],
  jsonNeedsWord: false,
  reasoning: {
    by: 'effort',
    efforts: EFFORTS,
    budgets: BUDGETS,
    minBudget: 1_024,
    maxBudget: 65_536,
    field: 'reasoning_content',
    replay: 'always',
    needsField: false,
    bindsReasoning: false,
    refusesForcedTool: false,
    refusesTools: false,
    excludes: [],
    isDefault: false,
    off: 'disabled',
  },
  cacheMarks: 'none',
  maxCacheMarks: 4,
  streamUsage: true,
}
