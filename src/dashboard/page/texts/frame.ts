/*
 * The texts of the page are in this folder: these are those of the frame, and each view has a file of its own, which is loaded with it. A second
 * language is another folder of objects of the same types.
 */

export const texts = {
  product: 'Signalbox',
  skip: 'Skip to the content',
  signOut: 'Sign out',
  pages: {
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
  },
  mayLook: 'Your token may only look.',
  changed: (what: string) =>
    `Somebody has changed it meanwhile: ${what}. Save again to replace that by what you have entered.`,
  unknownPage: 'There is no such page.',
  signIn: {
    title: 'Sign in',
    token: 'Admin token',
    hint: 'The command prints it at its first start; a host sets it with the option "management". It is kept in this tab only.',
    button: 'Sign in',
    ended: 'The gateway no longer accepts this token.',
  },
  connection: {
    lost: (since: string) => `The gateway does not answer since ${since}. Trying again …`,
  },
  /** How targets are that are ill. */
  health: {
    counting: 'failing',
    cooling: 'cooling',
    'half-open': 'to be tried',
    probing: 'being tried',
  },
  common: {
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
  },
} as const
