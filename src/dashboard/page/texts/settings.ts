/* The texts of the view of settings. */

export const requireApiKey = 'Clients need a key'
export const requireHint = 'Without it everybody who reaches the gateway can use the connections.'
export const limits = 'Limits of the whole gateway'
export const unpriced = 'A target whose price is not known, under a limit in US dollars'
export const unprices = {
  skip: 'is passed over',
  allow: 'may be used',
} as const
export const away = 'While the storage is away, requests under a limit of'
export const aways = {
  refuse: 'are refused',
  allow: 'pass',
} as const
export const units = {
  usd: 'US dollars',
  tokens: 'tokens',
  requests: 'requests',
  parallel: 'requests at once',
} as const
export const usage = 'Usage'
export const keepRequests = 'Days that single requests are kept'
export const keepTotals = 'Days that sums are kept'
export const attempts = 'Attempts for one request'
export const saved = 'Saved.'
export const damaged = 'Damaged records'
export const damagedHint = 'The gateway cannot read these records of the storage, and ignores them.'
export const columnKey = 'Record'
export const columnProblem = 'What is wrong'
export const columnActions = 'Actions'
