/** The texts of the view of settings. */
export const texts = {
  requireApiKey: 'Clients need a key',
  requireHint: 'Without it everybody who reaches the gateway can use the connections.',
  limits: 'Limits of the whole gateway',
  unpriced: 'A target whose price is not known, under a limit in US dollars',
  unprices: { skip: 'is passed over', allow: 'may be used' },
  away: 'While the storage is away, requests under a limit of',
  aways: { refuse: 'are refused', allow: 'pass' },
  units: { usd: 'US dollars', tokens: 'tokens', requests: 'requests', parallel: 'requests at once' },
  usage: 'Usage',
  keepRequests: 'Days that single requests are kept',
  keepTotals: 'Days that sums are kept',
  attempts: 'Attempts for one request',
  saved: 'Saved.',
  damaged: 'Damaged records',
  damagedHint: 'The gateway cannot read these records of the storage, and ignores them.',
  columns: { key: 'Record', problem: 'What is wrong', actions: 'Actions' },
} as const
