/** The texts of the view of the cloud. */
export const texts = {
  what: 'Cloud mode mirrors all data to a proxy, which serves the same keys and models from there.',
  state: { on: 'on', off: 'off', behind: 'behind' },
  facts: { mode: 'Cloud mode', url: 'Proxy', last: 'Last exchange', lag: 'Behind by', error: 'Last error' },
  url: 'Address of the proxy',
  save: 'Save the address',
  enrolment: 'Enrolment credential',
  enrolmentHint: 'Needed once, and never stored. Empty: that of the host.',
  enable: 'Enable',
  sync: 'Exchange now',
  check: 'Check the proxy',
  disable: 'Disable',
  disableHint: 'The mirror and its sessions are removed there; what was changed there is taken over first.',
  conflicts: 'Changes on both sides',
  noConflicts: 'There were none.',
  columns: { what: 'Record', kept: 'Kept', at: 'When', session: 'Session', used: 'Last used', actions: 'Actions' },
  sides: { home: 'the one here', cloud: 'the one at the cloud' },
} as const
