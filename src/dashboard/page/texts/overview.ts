/* The texts of the overview. */

export const firstTitle = 'Three steps to a first answer'
export const firstConnect = 'Connect a provider'
export const firstKey = 'Make a key for a client'
export const firstAsk = 'Ask in the playground'
export const firstDone = 'done'
export const firstSkip = 'Skip this'
export const figureRequests = 'requests in 24 hours'
export const figureFailed = 'failed or refused'
export const figureCost = 'spent in 24 hours'
export const figureTokens = 'tokens in / out'
export const figureFirstWord = 'until the first word (median)'
export const before = (figure: string) => `${figure} the day before`
export const slowest = (time: string) => `${time} for 95 % of them`
export const notKept = 'This gateway keeps no usage, so there are no figures.'
export const chart = 'Requests by hour'
export const answered = 'answered'
export const failedPart = 'failed or refused'
export const ill = 'What is ill'
export const well = 'All targets are well.'
export const attention = 'What needs attention'
export const nothing = 'Nothing.'
export const refused = (count: number) => `${count.toLocaleString()} requests in 24 hours were refused.`
export const unpriced = (count: number) =>
  `${count.toLocaleString()} calls in 24 hours went to models whose price is not known.`
export const damaged = (count: number) => `${count.toLocaleString()} records of the storage are damaged.`
export const open = 'No key is required of clients.'
export const gateway = 'The gateway'
export const near = (holder: string, used: string, limit: string) => `${holder} has used ${used} of ${limit}.`
export const mirror = (why: string) => `The mirror at the cloud is behind: ${why}`
export const latest = 'The latest requests that failed'
