/* Generated from src/management/operations.ts by npm run generate. */

/** The route of each operation, with its `action` if several operations share the route. */
export const routes = {
  keys: {
    list: 'GET /api/keys',
    create: 'POST /api/keys',
    get: 'GET /api/keys/:id',
    update: 'PUT /api/keys/:id',
    delete: 'DELETE /api/keys/:id',
    put: 'PUT /api/keys',
    rotate: 'POST /api/keys/:id/rotate',
    limits: {
      get: 'GET /api/keys/:id/limits',
      reset: 'DELETE /api/keys/:id/limits',
      settle: 'POST /api/keys/:id/limits/settle',
    },
  },
  groups: {
    list: 'GET /api/groups',
    create: 'POST /api/groups',
    get: 'GET /api/groups/:id',
    update: 'PUT /api/groups/:id',
    delete: 'DELETE /api/groups/:id',
    put: 'PUT /api/groups',
    limits: {
      get: 'GET /api/groups/:id/limits',
      reset: 'DELETE /api/groups/:id/limits',
      settle: 'POST /api/groups/:id/limits/settle',
    },
  },
  accounts: {
    list: 'GET /api/accounts',
    put: 'PUT /api/accounts',
    get: 'GET /api/accounts/:id',
    update: 'PUT /api/accounts/:id',
    pause: 'POST /api/accounts/:id/pause',
    resume: 'POST /api/accounts/:id/resume',
    revoke: 'POST /api/accounts/:id/revoke',
    delete: 'DELETE /api/accounts/:id',
    limits: {
      get: 'GET /api/accounts/:id/limits',
      reset: 'DELETE /api/accounts/:id/limits',
      settle: 'POST /api/accounts/:id/limits/settle',
    },
  },
  tokens: {
    mint: 'POST /api/tokens',
  },
  settings: {
    limits: {
      get: 'GET /api/settings/limits',
      reset: 'DELETE /api/settings/limits',
      settle: 'POST /api/settings/limits/settle',
    },
    get: 'GET /api/settings',
    update: 'PATCH /api/settings',
  },
  guards: {
    list: 'GET /api/guards',
    create: 'POST /api/guards',
    test: 'POST /api/guards/test',
    get: 'GET /api/guards/:name',
    update: 'PUT /api/guards/:name',
    delete: 'DELETE /api/guards/:name',
    put: 'PUT /api/guards',
  },
  combos: {
    list: 'GET /api/combos',
    create: 'POST /api/combos',
    get: 'GET /api/combos/:id',
    update: 'PUT /api/combos/:id',
    delete: 'DELETE /api/combos/:id',
    put: 'PUT /api/combos',
  },
  connections: {
    list: 'GET /api/connections',
    create: 'POST /api/connections',
    get: 'GET /api/connections/:id',
    update: 'PUT /api/connections/:id',
    delete: 'DELETE /api/connections/:id',
    put: 'PUT /api/connections',
    discover: 'POST /api/connections/:id/models',
    test: 'POST /api/connections/:id/test',
  },
  models: {
    published: 'GET /api/models',
  },
  customModels: {
    list: 'GET /api/models/custom',
    create: 'POST /api/models/custom',
    delete: 'DELETE /api/models/custom/:providerAlias/:id+',
    put: 'PUT /api/models/custom',
  },
  aliases: {
    list: 'GET /api/models/aliases',
    set: 'PUT /api/models/aliases',
    delete: 'DELETE /api/models/aliases/:alias+',
  },
  providers: {
    list: 'GET /api/providers',
    get: 'GET /api/providers/:id',
    update: 'PUT /api/providers/:id',
  },
  catalog: {
    review: 'GET /api/catalog',
    refresh: 'POST /api/catalog/refresh',
    accept: 'POST /api/catalog/accept',
    rollback: 'POST /api/catalog/rollback',
  },
  cloud: {
    get: 'GET /api/sync/cloud',
    enable: 'POST /api/sync/cloud enable',
    sync: 'POST /api/sync/cloud sync',
    disable: 'POST /api/sync/cloud disable',
    check: 'POST /api/sync/cloud check',
    sessions: {
      list: 'GET /api/sync/cloud/sessions',
      revoke: 'DELETE /api/sync/cloud/sessions/:id',
    },
  },
  usage: {
    summary: 'GET /api/usage',
    requests: 'GET /api/usage/requests',
    request: 'GET /api/usage/requests/:id',
    keys: 'GET /api/usage/keys',
  },
  explain: 'POST /api/explain',
  overview: 'GET /api/overview',
  info: 'GET /api/info',
  openapi: 'GET /api/openapi.json',
  damagedRecords: {
    get: 'GET /api/health/records/:key+',
    put: 'PUT /api/health/records/:key+',
    delete: 'DELETE /api/health/records/:key+',
  },
  health: {
    list: 'GET /api/health',
    reset: 'DELETE /api/health/:id?',
  },
}

/** The operations that change one record, by resource. */
export interface IfMatchOperations {
  keys: 'update' | 'delete'
  groups: 'update' | 'delete'
  settings: 'update'
  guards: 'update' | 'delete'
  combos: 'update' | 'delete'
  connections: 'update' | 'delete'
  customModels: 'delete' | 'put'
  aliases: 'set' | 'delete'
  providers: 'update'
}
