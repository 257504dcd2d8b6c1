/* The texts of the view of keys and groups. */

export const newOne = 'New key'
export const newGroup = 'New group'
export const groups = 'Groups'
export const noGroups = 'There is no group. Keys of a customer, a team or a plan can share limits.'
export const empty = 'There is no key yet. Make one, and give it to a client.'
export const search = 'Name or id'
export const allGroups = 'all groups'
export const allStates = 'all states'
export const columnName = 'Name'
export const columnGroup = 'Group'
export const columnState = 'State'
export const columnReach = 'May reach'
export const columnLimits = 'Limits'
export const columnExpires = 'Expires'
export const columnCreated = 'Created'
export const columnKeys = 'Keys'
export const columnActions = 'Actions'
export const states = {
  active: 'active',
  paused: 'paused',
  expired: 'expired',
  refused: 'refused',
} as const
export const pause = 'Pause'
export const resume = 'Resume'
export const rotate = 'Rotate'
export const details = 'Limits'
export const ofGroup = 'its keys'
export const everything = 'everything'
export const unlimited = 'no limit'
export const atOnce = (count: string) => `${count} at once`
export const units = {
  usd: 'US dollars',
  requests: 'requests',
  tokens: 'tokens',
  parallel: 'requests at once',
} as const
export const windows = {
  minute: 'a minute',
  hour: 'an hour',
  day: 'a day',
  week: 'a week',
  month: 'a month',
  total: 'in all',
} as const
export const formKey = (name: string) => `The key "${name}"`
export const formGroup = (name: string) => `The group "${name}"`
export const formName = 'Name'
export const formOfGroup = 'Group'
export const formNoGroup = 'none'
export const formExpires = 'Expires'
export const formExpiresHint = 'In your time. Empty: never.'
export const formModels = 'Models'
export const formModelsHint =
  'Names of models, combos or aliases, with * for any characters, separated by commas. What a listed name leads to is allowed, too. Empty: all.'
export const formLimits = 'Limits'
export const formAdd = 'Add a limit'
export const formAmount = 'At most'
export const formUnit = 'Of'
export const formWindow = 'In'
export const formWindowsHint = 'Windows are those of the calendar in UTC; weeks begin on Monday.'
export const formParallel = 'Requests at once'
export const madeTitle = (name: string) => `The key "${name}"`
export const madeOnce = 'Copy the value now. This page does not show it again.'
export const madeValue = 'The value'
export const madeUse = 'How to use it'
export const madeModel = 'a-model'
export const removeTitle = (name: string) => `Delete the key "${name}"?`
export const removeGroup = (name: string) => `Delete the group "${name}"?`
export const removeText =
  'Requests with it are refused at once, and it cannot be brought back. A paused key can be resumed.'
export const removeGroupText = 'A group can be deleted once it has no keys.'
export const removeUsed = (name: string) => `It was used today. Enter its name, ${name}, to delete it.`
export const removePauseInstead = 'Pause it instead'
export const rotatedTitle = (name: string) => `Rotate the key "${name}"`
export const rotatedText = 'It gets a new value. Everything else stays: its id, its limits, what it has used.'
export const rotatedGrace = 'The old value works for another'
export const rotatedGraces = [
  ['0', 'no time: it stops now'],
  ['3600000', 'hour'],
  ['86400000', 'day'],
  ['604800000', 'week'],
] as const
export const rotatedButton = 'Make a new value'
export const usedTitle = (name: string) => `What "${name}" may use`
export const usedNone = 'No limit holds for it.'
export const usedScopes = {
  key: 'this key',
  group: 'its group',
  gateway: 'the whole gateway',
} as const
export const usedColumnLimit = 'Limit'
export const usedColumnUsed = 'Used'
export const usedColumnReserved = 'Under way'
export const usedColumnUnsettled = 'Unsettled'
export const usedColumnLeft = 'Left'
export const usedColumnResets = 'Resets'
export const usedUnsettledHint =
  'Unsettled is what an instance had reserved that is gone. It counts as used until it is settled.'
export const usedSettle = 'Settle: it was spent'
export const usedFree = 'Settle: it was not spent'
export const usedReset = 'Start the counters of this key anew'
