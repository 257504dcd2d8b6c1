/* The texts of the view of requests. */

export const live = 'Live'
export const paused = 'Paused'
export const liveHint = 'New requests appear by themselves.'
export const fresh = (count: number) => `${count.toLocaleString()} new`
export const nothing = 'No request meets this filter.'
export const filters = {
  id: 'Id of a request',
  keyId: 'Key',
  groupId: 'Group',
  model: 'Asked for',
  target: 'Target, as provider/model',
  user: 'End user',
  status: 'Status',
  end: 'How it ended',
  error: 'Error code',
  more: 'More filters',
} as const
export const any = 'any'
export const running = 'running'
export const ends = {
  complete: 'complete',
  aborted: 'the client left',
  cut: 'broke off',
  failed: 'failed',
  refused: 'refused',
} as const
export const columnTime = 'Time'
export const columnKey = 'Key'
export const columnAsked = 'Asked for'
export const columnTarget = 'Answered by'
export const columnStatus = 'Status'
export const columnEnd = 'End'
export const columnDuration = 'Duration'
export const columnTokens = 'Tokens'
export const columnCost = 'Cost'
export const columnAttempts = 'Attempts'
export const older = 'Older ones'
export const noKey = 'no key'
export const title = (id: string) => `Request ${id}`
export const back = 'All requests'
export const unknown = 'No such request is kept.'
export const asked = 'Asked for'
export const path = 'Endpoint'
export const key = 'Key'
export const group = 'Group'
export const user = 'End user'
export const came = 'Came'
export const ended = 'Ended'
export const why = 'Why'
export const status = 'Status'
export const firstByte = 'First word after'
export const tokens = 'Tokens'
export const tokensOf = (input: string, cached: string, output: string, reasoning: string) =>
  `${input} in (${cached} from the cache), ${output} out (${reasoning} reasoning)`
export const cost = 'Cost'
export const unknownCost = 'not known'
export const sources = {
  reported: 'as the provider reported it',
  counted: 'by the tokens that the provider reported',
  estimated: 'estimated, as the provider reported nothing',
} as const
export const warnings = 'Lost in translation'
export const noPrompts = 'Prompts and answers are not kept.'
export const attempts = 'Attempts'
export const skipped = 'Not called'
export const skippedFor = (what: string, why: string) => `${what}: ${why}`
export const noAttempts = 'No provider was called.'
export const axis = (ms: string) => `Time from the request on, ${ms} in all`
export const copy = 'Copy as JSON'
