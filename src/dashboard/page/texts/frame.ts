/*
 * The texts of the page are in this folder: these are those of the frame, and each view has a file of its own, which is loaded with it. A second
 * language is another folder of modules with the same exports.
 */

export const product = 'Signalbox'
export const skip = 'Skip to the content'
export const signOut = 'Sign out'
export const pages = {
  '': 'Overview',
  keys: 'Keys',
  usage: 'Usage',
  requests: 'Requests',
  targets: 'Targets',
  combos: 'Combos',
  models: 'Models',
  playground: 'Playground',
  cloud: 'Cloud',
  settings: 'Settings',
} as const
export const mayLook = 'Your token may only look.'
export const changed = (what: string) =>
  `Somebody has changed it meanwhile, so nothing is done yet: ${what}. Do it again to replace that.`
export const changedPart = (name: string, before: string, now: string) => `${name} was ${before} and is ${now}`
export const changedOwn = (entered: string) => `, you have entered ${entered}`
export const unknownPage = 'There is no such page.'
export const signInTitle = 'Sign in'
export const signInToken = 'Admin token'
export const signInHint =
  'The command prints it at its first start; a host sets it with the option "management". It is kept in this tab only.'
export const signInButton = 'Sign in'
export const signInEnded = 'The gateway no longer accepts this token.'
export const connectionLost = (since: string) => `The gateway does not answer since ${since}. Trying again …`
/** How targets are that are ill. */
export const health = {
  counting: 'failing',
  cooling: 'cooling',
  'half-open': 'to be tried',
  probing: 'being tried',
} as const
export const common = {
  loading: 'Loading …',
  retry: 'Try again',
  save: 'Save',
  cancel: 'Cancel',
  close: 'Close',
  delete: 'Delete',
  edit: 'Edit',
  add: 'Add',
  remove: (what: string) => `Remove ${what}`,
  copy: 'Copy',
  copied: 'Copied',
  selected: 'This page may not copy: press Ctrl+C or ⌘C',
  next: 'Next page',
  first: 'First page',
  none: 'none',
  never: 'never',
  all: 'all',
  search: 'Search',
  nothing: 'Nothing matches.',
  failed: 'That did not work',
  more: 'Show more',
  of: (shown: number, all: number) => `${shown.toLocaleString()} of ${all.toLocaleString()}`,
} as const
