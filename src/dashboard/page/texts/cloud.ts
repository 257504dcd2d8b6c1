/* The texts of the view of the cloud. */

export const what = 'Cloud mode mirrors all data to a proxy, which serves the same keys and models from there.'
export const state = {
  good: 'on',
  off: 'off',
  bad: 'behind',
} as const
export const factMode = 'Cloud mode'
export const factUrl = 'Proxy'
export const factLast = 'Last exchange'
export const factLag = 'Behind by'
export const factError = 'Last error'
export const url = 'Address of the proxy'
export const save = 'Save the address'
export const enrolment = 'Enrolment credential'
export const enrolmentHint = 'Needed once, and never stored. Empty: that of the host.'
export const enable = 'Enable'
export const sync = 'Exchange now'
export const check = 'Check the proxy'
export const disable = 'Disable'
export const disableHint = 'The mirror and its sessions are removed there; what was changed there is taken over first.'
export const conflicts = 'Changes on both sides'
export const noConflicts = 'There were none.'
export const columnWhat = 'Record'
export const columnKept = 'Kept'
export const columnAt = 'When'
export const columnSession = 'Session'
export const columnUsed = 'Last used'
export const columnActions = 'Actions'
export const sides = {
  home: 'the one here',
  cloud: 'the one at the cloud',
} as const
