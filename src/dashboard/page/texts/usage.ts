/* The texts of the view of usage. */

export const range = 'Time'
export const ranges = {
  '1': 'last 24 hours',
  '7': 'last 7 days',
  '30': 'last 30 days',
  '90': 'last 90 days',
} as const
export const by = 'By'
export const bys = {
  key: 'key',
  group: 'group',
  model: 'requested model',
  target: 'target',
  user: 'end user',
} as const
export const filters = {
  keyId: 'Key',
  groupId: 'Group',
  model: 'Model',
  target: 'Target',
} as const
export const any = 'all'
export const measure = 'Show'
export const measures = {
  costUsd: 'cost',
  requests: 'requests',
  tokens: 'tokens',
} as const
export const figureCost = 'cost'
export const figureRequests = 'requests'
export const figureFailed = 'failed'
export const figureTokens = 'tokens in / out'
export const figureCached = 'of the input cached'
export const figureFirst = 'until the first word (median)'
export const before = (change: string) => `${change} against the time before`
export const unpriced = 'The cost of some requests is not known: their models have no price.'
export const columnWhat = 'What'
export const columnRequests = 'Requests'
export const columnFailed = 'Failed'
export const columnInput = 'Tokens in'
export const columnCached = 'Cached'
export const columnOutput = 'Tokens out'
export const columnFirst = 'First word, 95 %'
export const columnDuration = 'Duration, 95 %'
export const percentiles = (middle: string, most: string) => `50 %: ${middle}, 99 %: ${most}`
export const columnCost = 'Cost'
export const total = 'All that the filter meets'
export const none = '(none)'
export const nothing = 'No request was made in this time.'
export const chart = (measure: string) => `${measure} over time`
export const rest = 'all others'
export const others = (count: number) => `${count.toLocaleString()} others`
export const time = 'Time'
export const cursor = 'Use the arrow keys to read the values.'
export const csv = 'CSV'
export const jsonl = 'JSON lines'
export const requests = 'The requests of this filter'
