/* Generated from src/management/operations.ts by test/management/operation-data.test.ts. */

/** The names of all operations. The gateway has them before it loads the operation table. */
export const operationNames = {
  keys: {
    list: 1,
    create: 1,
    get: 1,
    update: 1,
    delete: 1,
    put: 1,
    rotate: 1,
    limits: {
      get: 1,
      reset: 1,
      settle: 1,
    },
  },
  groups: {
    list: 1,
    create: 1,
    get: 1,
    update: 1,
    delete: 1,
    put: 1,
    limits: {
      get: 1,
      reset: 1,
      settle: 1,
    },
  },
  accounts: {
    list: 1,
    put: 1,
    get: 1,
    update: 1,
    pause: 1,
    resume: 1,
    revoke: 1,
    delete: 1,
    limits: {
      get: 1,
      reset: 1,
      settle: 1,
    },
  },
  tokens: {
    mint: 1,
  },
  settings: {
    limits: {
      get: 1,
      reset: 1,
      settle: 1,
    },
    get: 1,
    update: 1,
  },
  combos: {
    list: 1,
    create: 1,
    get: 1,
    update: 1,
    delete: 1,
    put: 1,
  },
  connections: {
    list: 1,
    create: 1,
    get: 1,
    update: 1,
    delete: 1,
    put: 1,
    discover: 1,
    test: 1,
  },
  models: {
    published: 1,
  },
  customModels: {
    list: 1,
    create: 1,
    delete: 1,
    put: 1,
  },
  aliases: {
    list: 1,
    set: 1,
    delete: 1,
  },
  providers: {
    list: 1,
    get: 1,
    update: 1,
  },
  cloud: {
    get: 1,
    enable: 1,
    sync: 1,
    disable: 1,
    check: 1,
    sessions: {
      list: 1,
      revoke: 1,
    },
  },
  usage: {
    summary: 1,
    requests: 1,
    request: 1,
    keys: 1,
  },
  explain: 1,
  overview: 1,
  info: 1,
  openapi: 1,
  damagedRecords: {
    get: 1,
    put: 1,
    delete: 1,
  },
  health: {
    list: 1,
    reset: 1,
  },
} as const
